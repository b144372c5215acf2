//! The page in a browser.

use std::sync::mpsc;

use rt_test_util::watchdog;

use crate::browser::Browser;
use crate::client::inspected;

/// A name that would be seen to run, if the page took it for markup.
const HOSTILE: &str =
    "<img src=x onerror=\"document.title='broken into'\"><script>document.title='broken into'</script>";

#[test]
fn the_page_shows_what_the_program_does() {
    let Some(mut browser) = Browser::start() else {
        eprintln!("left out: there is no `chromium` (ecosystem/install gets it)");
        return;
    };
    let _watchdog = watchdog();
    let (runtime, address) = inspected(40, 2);
    let (begun, has_begun) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let waiting: Vec<_> = (0..20).map(|_| runtime.spawn(std::future::pending::<()>())).collect();
    let stuck = {
        let _guard = runtime.enter();
        rt::task::Builder::new()
            .name(HOSTILE)
            .spawn(async move {
                begun.send(()).unwrap();
                let _ = ended.recv();
            })
            .unwrap()
    };
    has_begun.recv().unwrap();

    browser.call("Page.enable", &serde_json::json!({}));
    browser.open(&format!("http://{address}/"));
    browser.wait_for("document.querySelector('#status').className.includes('live')");
    // A lane a worker, and the one that is stuck says in which task. The two histograms are there.
    browser.wait_for("document.querySelectorAll('.lane canvas').length === 2");
    browser.wait_for("[...document.querySelectorAll('.doing')].some((doing) => doing.textContent.includes('onerror'))");
    browser.wait_for("document.querySelectorAll('.histogram svg rect').length >= 12");
    let is_told = "(canvas) => canvas.getAttribute('aria-label').includes('busy for')";
    browser.wait_for(&format!("[...document.querySelectorAll('.lane canvas')].every({is_told})"));
    // The lane of the stuck worker is drawn as busy.
    browser.wait_for(
        "[...document.querySelectorAll('.lane')].some((lane) => lane.querySelector('.number').textContent === '100 %')",
    );
    // All tasks are in the table, and text stays text.
    browser.wait_for("document.querySelectorAll('#rows tr').length === 21");
    let running = "[...document.querySelectorAll('#rows tr')].find((row) => row.querySelector('.state.running'))";
    let name = browser.value(&format!("{running}.children[1].textContent"));
    assert_eq!(name, HOSTILE);
    assert_eq!(browser.value("document.querySelectorAll('img, #rows script').length"), 0);
    assert_eq!(browser.value("document.title"), "rt: what runs, what waits");
    let refused = "(() => { try { document.body.innerHTML = '<b>x</b>'; return false; } catch { return true; } })()";
    assert_eq!(browser.value(refused), true, "the policy has markup refused");
    // By place of spawn: two places, the one with most tasks first; and from there to its tasks.
    browser.value("document.querySelector('#group').click()");
    browser.wait_for("document.querySelectorAll('#rows tr').length === 2");
    browser.wait_for("document.querySelector('#rows tr').children[2].textContent === '20'");
    browser.value("document.querySelector('#rows button').click()");
    browser.wait_for("document.querySelectorAll('#rows tr').length === 20");
    // Sorted by a click, the other way round by a second one; and filtered.
    let first_id = "document.querySelector('#rows td').textContent";
    let task_head = "document.querySelector('#columns button')";
    browser.value(&format!("{task_head}.click()"));
    browser.wait_for("document.querySelector('#columns th').getAttribute('aria-sort') === 'descending'");
    let last = browser.value(first_id);
    browser.value(&format!("{task_head}.click()"));
    browser.wait_for(&format!("{first_id} !== '{}'", last.as_str().unwrap()));
    browser.value("document.querySelector('#find').value = 'onerror'");
    browser.value("document.querySelector('#find').dispatchEvent(new Event('input'))");
    browser.wait_for("document.querySelectorAll('#rows tr').length === 1");
    drop(end);
    runtime.block_on(stuck).unwrap();
    browser.wait_for("document.querySelectorAll('#rows tr').length === 0");
    // The program ends, and the page says so.
    drop((waiting, runtime));
    browser.wait_for("document.querySelector('#status').textContent === 'no answer'");
}
