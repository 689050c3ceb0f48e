//! What shells and `man` want to know of the commands, from the same definitions as `--help`.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;
use harvest::session::{note, stdout};

use crate::args::Args;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "skurd", &mut script);
    let mut out = stdout();
    out.write_all(&script)?;
    Ok(out.flush()?)
}

/// One for each command, with those below it: `skurd-config-check.1`.
pub(crate) fn pages(dir: &Path) -> Result<()> {
    let mut program = Args::command().disable_help_subcommand(true);
    program.build();
    clap_mangen::generate_to(program, dir)
        .with_context(|| format!("cannot write manual pages into {}", dir.display()))?;
    note(&format!("manual pages are in {}", dir.display()))
}
