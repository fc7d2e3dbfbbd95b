// Package mcpserver shows the use cases to AI agents as six tools of the Model
// Context Protocol, over two streams (design section 8). It knows the protocol,
// the words of the tools and how strictly their arguments are read; what a call
// does is for the UseCases that it is handed. No rule of the engine is decided here.
package mcpserver
