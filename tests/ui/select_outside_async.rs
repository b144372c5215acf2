fn main() {
    rt::select! {
        _ = std::future::ready(()) => {}
    }
}
