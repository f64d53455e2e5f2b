//! The courier, for a build with `panic = "abort"`.

#[path = "courier.rs"]
mod courier;

fn main() -> Result<(), lambda_runtime::Error> {
    courier::main()
}
