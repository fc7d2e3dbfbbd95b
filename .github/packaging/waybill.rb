# A Homebrew formula that builds from the source archive of a release. To publish a version,
# copy it to Formula/waybill.rb of the tap with the version and the SHA-256 of the archive
# waybill-VERSION.tar.gz from the release's checksums.
class Waybill < Formula
  desc "Local, durable workflow engine in one binary"
  homepage "https://github.com/waybill/waybill"
  url "https://github.com/waybill/waybill/releases/download/vVERSION/waybill-VERSION.tar.gz"
  sha256 "SHA256"
  license "Apache-2.0"
  head "https://github.com/waybill/waybill.git", branch: "main"

  depends_on "go" => :build

  def install
    ENV["CGO_ENABLED"] = "0"
    system "go", "build", *std_go_args(ldflags: "-s -w -X main.version=#{version}", tags: "nethttpomithttp2"), "./cmd/waybill"
    generate_completions_from_executable(bin/"waybill", "completion")
  end

  test do
    (testpath/"hello.yaml").write <<~YAML
      id: project.hello
      name: Hello
      description: One command.
      version: 1.0.0
      steps:
        - id: hello
          title: Greet
          action: {kind: command, argv: [echo, hello]}
    YAML
    ENV["WAYBILL_HOME"] = testpath/"home"
    assert_match "hello", shell_output("#{bin}/waybill run hello.yaml --trust")
    system bin/"waybill", "verify"
  end
end
