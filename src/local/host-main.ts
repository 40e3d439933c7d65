import { runHostJob } from "./host-job.ts";

process.exitCode = await runHostJob(process.argv.slice(2), {
  say: (line) => process.stdout.write(`${line}\n`),
  complain: (line) => process.stderr.write(`${line}\n`),
});
