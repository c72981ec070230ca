//! Compiles the protocol's definitions, without protoc.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = protox::compile(["proto/provider.proto", "proto/plugin.proto"], ["proto"])?;
    // tofu and the tests need a server alone.
    tonic_prost_build::configure().build_client(false).compile_fds(files)?;
    println!("cargo:rerun-if-changed=proto");
    Ok(())
}
