//! The one binary of Tillgate. Everything it can do is a sub-command; see `tillgate --help`.

/// What one thread allocates here is freed by another all the time: an order by the store's writer, a request by whichever worker
/// its connection is on. The system's allocator has them wait for each other's arenas; this one does not.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    tillgate::cli::run()
}
