import type { Command } from "commander";

/** One command line or more for each command, without the program's name, as --help shows them. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  set: ["set --name hpc --instancecount 4 --wait", "set --name hpc --corecount 480 --max 1000"],
  update: ["update --file arrays.json", "update --file - <<< '[]'"],
  push: ["push jobs.json", "push jobs.json --expiration-interval 600"],
  delete: ["delete standard"],
  status: ["status", "status -c prod --watch"],
  buckets: ["buckets -c prod"],
  limits: ["limits -c prod"],
  demand: ["demand", "demand -s standard"],
  nodes: ["nodes --unneeded", "nodes --nodearray hpc --sort age"],
  jobs: ["jobs --unmet", "jobs --user anna"],
  rejected: ["rejected -c prod"],
  "explain job": ["explain job 102", "explain job 102 -s pbs"],
  "explain node": ["explain node hpc-1", "explain node hpc-1 --plan 22"],
  plan: ["plan", "plan --file what-if.json"],
  history: ["history"],
  compare: ["compare --since 2026-01-01", "compare --csv > days.csv"],
  "config get": ["config get > prod.json"],
  "config put": ["config put prod.json", "config put prod.json --replace"],
  "config set": [
    "config set mode=observe",
    "config set mode.hpc=act idleTimeout.hpc=900",
    "config set 'caps.users[\"anna.smith\"].nodes=10'",
  ],
  "config unset": ["config unset caps.users.anna"],
  "config history": ["config history"],
  "config rollback": ["config rollback", "config rollback 3"],
  "config diff": ["config diff prod.json"],
  "config schema": ["config schema > configuration.schema.json"],
  "config validate": ["config validate prod.json"],
  tick: ["tick -c prod"],
  "end-down": ["end-down hpc -c prod"],
  restored: ["restored -c prod"],
  autostop: ["autostop", "autostop --unhealthy"],
  check: ["check --settings local.settings.json", "check -c prod --config prod.json"],
  keys: ["keys sender --app func-hpc -g cc-autoscaler --key-name pbs"],
  verify: ['verify --resource-id "$AUTOSCALER_RESOURCE_ID"'],
  cost: ["cost", "cost --clusters 3"],
  removal: ["removal"],
  completion: ["completion bash"],
};

/** Adds the examples to the help text of each command. */
export function addExamples(program: Command): void {
  const add = (command: Command, path: readonly string[]): void => {
    const lines = EXAMPLES[path.join(" ")];
    if (lines !== undefined)
      command.addHelpText(
        "after",
        ["\nExamples:", ...lines.map((line) => `  ${program.name()} ${line}`)].join("\n"),
      );
    for (const below of command.commands) add(below, [...path, below.name()]);
  };
  add(program, []);
}
