package httpserver

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/waybill/waybill/durable/openwop"
)

// versionHeader forces a version of the engine as by which a run is created.
const versionHeader = "X-Force-Engine-Version"

// forced is the request to create a run with the version of the engine that a header forces, if there is one.
func (c *call) forced(in openwop.CreateRun) (openwop.CreateRun, error) {
	values := c.r.Header.Values(versionHeader)
	if len(values) == 0 {
		return in, nil
	}
	if !c.Seams {
		return in, refuse(http.StatusForbidden, openwop.ErrForceForbidden, "only a test key forces a version of the engine")
	}
	version, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil || len(values) > 1 || version < openwop.EngineVersionMin || version > openwop.EngineVersionMax {
		return in, refuse(http.StatusBadRequest, openwop.ErrForceUnsupported, fmt.Sprintf("the version of the engine is none from %d to %d",
			openwop.EngineVersionMin, openwop.EngineVersionMax)).
			with("supported", map[string]int64{"min": openwop.EngineVersionMin, "max": openwop.EngineVersionMax})
	}
	return in.Forced(version), nil
}
