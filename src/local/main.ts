import { runMainJob } from "./main-job.ts";

process.exitCode = await runMainJob(process.argv.slice(2), {
  say: (line) => process.stdout.write(`${line}\n`),
  complain: (line) => process.stderr.write(`${line}\n`),
  progress: process.stderr,
});
