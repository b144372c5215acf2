//! Every row, the runtimes side by side: `BENCHMARKS.md`, its charts, and the figures in `README.md`.
//!
//! ```text
//! cargo bench --bench report                             everything; about half an hour
//! cargo bench --bench report -- [part of a row's title]  these rows to standard output; no file is written
//! cargo bench --bench report -- --servers [part]         only the table of servers
//! cargo bench --bench report -- --seeing [part]          only the table of what it costs to be able to see
//! cargo bench --bench report -- --test                   every row once to standard output, to see that it works
//! ```
//!
//! Each row starts its own three runtimes, warms them up, and runs them in turn, beginning with another one each time.
//! All rows are gone through three times, with new runtimes. The figure is the median of all runs. What the report is
//! at goes to standard error.
//!
//! The rows are in `sections`; `contest` runs them, a `sweep` at a time; `results` and `row` hold what came of them;
//! `markdown` and `plots` show it.

mod allocator;
mod apart;
mod cell;
mod contest;
mod libraries;
mod machine;
mod markdown;
mod pairs;
mod plots;
mod results;
mod row;
mod sections;
mod seeing;
mod servers;
mod sweep;

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use self::markdown::{Document, Table};
use self::pairs::Pairs;
use self::results::{Pass, Results};
use self::sections::Extent;
use self::seeing::Seeing;
use self::servers::{ServerSection, Servers};
use self::sweep::Sweep;

#[global_allocator]
static ALLOCATOR: allocator::Counting = allocator::Counting;

/// The number of workers that everything is measured with, and the others. `RT_BENCH_WORKERS` replaces both: the first
/// that it lists is the main one.
const WORKERS: [usize; 3] = [2, 1, 4];

/// The most runs of a row in the main pass, and in the further ones.
const MAIN_RUNS: usize = 9;
const FURTHER_RUNS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    servers::burn_if_told(&arguments);
    if apart::watch_if_told(&arguments) || rt_benches::servers::serve_if_told(&arguments) {
        return Ok(());
    }
    let is_given = |option: &str| arguments.iter().any(|argument| argument == option);
    if !is_given("--bench") {
        // `cargo test` of all targets, which wants no figures.
        eprintln!("usage: cargo bench --bench report -- [part of a row's title]");
        return Ok(());
    }
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    let part = filter.map_or("", String::as_str);
    let once = is_given("--test");

    let sections = sections::all();
    let workers = rt_benches::workers(&WORKERS);
    let (main, others) = workers.split_first().expect("there is at least one number");
    let mut servers = Servers::new(part, *main);
    if is_given("--servers") {
        Sweep::all().for_each(|sweep| servers.run(sweep));
        println!("{}", ServerSection(&servers));
        return Ok(());
    }
    let mut seeing = Seeing::new(part, *main);
    if is_given("--seeing") {
        Sweep::all().for_each(|sweep| seeing.run(sweep));
        println!("{seeing}");
        return Ok(());
    }
    let runs = if once { 1 } else { MAIN_RUNS };
    let mut main_pass = Pass::new(&sections, Extent::Once, part, *main, runs);
    if once || filter.is_some() {
        Sweep::all().for_each(|sweep| main_pass.run(sweep));
        for section in &main_pass.results() {
            println!("## {}\n\n{}", section.title, Table(&section.rows));
        }
        return Ok(());
    }
    let further_pass = |&workers| Pass::new(&sections, Extent::OtherWorkers, part, workers, FURTHER_RUNS);
    let mut further: Vec<Pass<'_>> = others.iter().map(further_pass).collect();
    let mut pairs = Pairs::default();
    for sweep in Sweep::all() {
        pairs.sample();
        main_pass.run(sweep);
        further.iter_mut().for_each(|pass| pass.run(sweep));
        servers.run(sweep);
        seeing.run(sweep);
    }
    pairs.sample();
    let results = main_pass.results();
    let further = further.into_iter().map(Pass::results);
    let further: Vec<(usize, Vec<Results>)> = others.iter().copied().zip(further).collect();

    // Where the package lies, not where the program was started.
    let benches = Path::new(env!("CARGO_MANIFEST_DIR"));
    let plots = benches.join("plots");
    fs::create_dir_all(&plots)?;
    plots::draw(&results, &plots)?;
    let (servers, seeing, pairs) = (&servers, &seeing, &pairs);
    let document = Document { workers: *main, results: &results, further: &further, servers, seeing, pairs };
    let path = benches.with_file_name("BENCHMARKS.md");
    fs::write(&path, document.to_string())?;
    // The README shows the summary, and CI that it is this one.
    let readme_path = benches.with_file_name("README.md");
    let readme = fs::read_to_string(&readme_path)?;
    let readme =
        markdown::replace_summary(&readme, &document.summary()).ok_or("README.md has no marks for the figures")?;
    fs::write(&readme_path, readme)?;
    eprintln!("wrote {}, {} and the figures in {}", path.display(), plots.display(), readme_path.display());
    Ok(())
}
