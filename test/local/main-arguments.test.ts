import { expect, test } from "vitest";
import { readArguments } from "../../src/local/arguments.ts";

const defaults = {
  seed: 1,
  speed: 60,
  virtual: false,
  serve: false,
  stay: false,
  act: false,
  json: false,
  verbose: false,
};

test.each([
  { name: "nothing: the defaults", argv: [], expected: defaults },
  {
    name: "everything that a virtual run takes",
    argv: [
      "--virtual",
      "--json",
      "--jobs",
      "40",
      "--seed",
      "0",
      "--trace=a.swf.gz",
      "--cores-per-node",
      "16",
    ],
    expected: {
      ...defaults,
      virtual: true,
      json: true,
      jobs: 40,
      seed: 0,
      trace: "a.swf.gz",
      coresPerNode: 16,
    },
  },
  {
    name: "a speed that is not whole, and a log",
    argv: ["--speed", "0.5", "--verbose"],
    expected: { ...defaults, speed: 0.5, verbose: true },
  },
  { name: "what stays up", argv: ["--stay"], expected: { ...defaults, stay: true } },
  { name: "no workload", argv: ["--serve"], expected: { ...defaults, serve: true } },
  {
    name: "no workload, at ports of one's own",
    argv: ["--serve", "--port", "7071"],
    expected: { ...defaults, serve: true, port: 7071 },
  },
  {
    name: "clusters of one's own, to be changed",
    argv: ["--serve", "--settings", "local.settings.json", "--act"],
    expected: { ...defaults, serve: true, settings: "local.settings.json", act: true },
  },
])("$name", ({ argv, expected }) => {
  expect(readArguments(argv)).toEqual({ kind: "arguments", arguments: expected });
});

test("help is given, whatever else is asked", () => {
  expect(readArguments(["--jobs", "x", "--help"])).toEqual({ kind: "help" });
});

const all =
  "--jobs, --seed, --speed, --trace, --cores-per-node, --virtual, --serve, --stay, --port, --settings, --act, --json, --verbose, --help";

test.each([
  {
    name: "an option that does not exist",
    argv: ["--job", "--virtual"],
    problems: [`found the unknown option --job, expected one of ${all}`],
  },
  {
    name: "a short option",
    argv: ["-v"],
    problems: [`found the unknown option -v, expected one of ${all}`],
  },
  { name: "a word", argv: ["40"], problems: ['found "40", expected only options'] },
  {
    name: "no jobs at all",
    argv: ["--jobs", "0"],
    problems: ['--jobs: found "0", expected a whole number of at least 1'],
  },
  {
    name: "half a job",
    argv: ["--jobs", "1.5"],
    problems: ['--jobs: found "1.5", expected a whole number of at least 1'],
  },
  {
    name: "a seed below 0",
    argv: ["--seed=-1"],
    problems: ['--seed: found "-1", expected a whole number of at least 0'],
  },
  {
    name: "no cores",
    argv: ["--cores-per-node", "none"],
    problems: ['--cores-per-node: found "none", expected a whole number of at least 1'],
  },
  {
    name: "time that stands still",
    argv: ["--speed", "0"],
    problems: ['--speed: found "0", expected a number above 0, at most 1000'],
  },
  {
    name: "time too fast for the machine",
    argv: ["--speed", "1001"],
    problems: ['--speed: found "1001", expected a number above 0, at most 1000'],
  },
  {
    name: "a value that is missing",
    argv: ["--json", "--trace"],
    problems: ["--trace: found no value, expected one after it"],
  },
  {
    name: "a value that is empty",
    argv: ["--jobs="],
    problems: ["--jobs: found no value, expected one after it"],
  },
  {
    name: "a value where none belongs",
    argv: ["--json=yes"],
    problems: ['--json: found the value "yes", expected none'],
  },
  {
    name: "a workload for --serve, twice",
    argv: ["--serve", "--virtual", "--trace", "a.swf"],
    problems: [
      "--serve: found with --virtual, expected without: it plays no workload",
      "--serve: found with --trace, expected without: it plays no workload",
    ],
  },
  {
    name: "nodes for a workload that --serve does not play",
    argv: ["--serve", "--cores-per-node", "4"],
    problems: ["--serve: found with --cores-per-node, expected without: it plays no workload"],
  },
  {
    name: "what belongs to --serve, without it",
    argv: ["--port", "70000", "--settings", "s.json"],
    problems: [
      "--port: found 70000, expected at most 65532",
      "--port: found without --serve, expected with it",
      "--settings: found without --serve, expected with it",
    ],
  },
  {
    name: "a second workload after one of a trace",
    argv: ["--stay", "--trace", "a.swf"],
    problems: ["--stay: found with --trace, expected without: it plays its own workloads"],
  },
  {
    name: "changes to no cluster",
    argv: ["--serve", "--act"],
    problems: ["--act: found without --settings, expected with it"],
  },
  {
    name: "a real cluster at another speed",
    argv: ["--serve", "--settings", "s.json", "--speed", "20"],
    problems: ["--settings: found with --speed, expected without: a real cluster has no simulator"],
  },
  {
    name: "several problems at once",
    argv: ["--jobs", "many", "--seed", "some"],
    problems: [
      '--jobs: found "many", expected a whole number of at least 1',
      '--seed: found "some", expected a whole number of at least 0',
    ],
  },
])("$name: what was found and what was expected are named", ({ argv, problems }) => {
  expect(readArguments(argv)).toEqual({ kind: "wrong", problems });
});
