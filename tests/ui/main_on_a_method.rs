struct Server;

impl Server {
    #[rt::main]
    async fn run(&self) {}
}

fn main() {
    Server.run();
}
