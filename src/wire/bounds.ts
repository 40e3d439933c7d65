/**
 * The largest input that the doors let in: messages, HTTP bodies, dry runs and configuration. Checked while reading, so that no input
 * costs more than it may before it is refused. The table is in docs/demand.md, Bounds.
 */
export const BOUNDS = {
  /** A queue message has at most 64 KiB; packed real demand of that size is below 1 MiB. Unpacked JSON by queue. */
  queueBytes: 4 * 1024 * 1024,
  /** 100,000 distinct jobs with constraints are below 32 MiB. JSON over HTTP, packed or not. */
  httpBytes: 32 * 1024 * 1024,
  /** Members and items in one input: each costs tens of bytes of memory once parsed. 200,000 jobs of 20 values have as many. */
  values: 4_000_000,
  /** Levels of nesting in one input; readers, digests and storage follow them by recursion. */
  levels: 64,
  /** Members of one object. */
  members: 10_000,
  /** Characters of one text; a CloudInit script in base64 has at most 87,384. */
  text: 128 * 1024,
  /** Characters of the name of a job, a host or a user. */
  name: 1000,
  /** Characters of the name of a resource. */
  resource: 200,
  /** Characters of a value that is to be matched, and of a message of "never": both are part of reasons. */
  constraintText: 4096,
  /** Nodes, cores, groups or slots in one demand, also as the product of two counts: far above any region, far below where numbers lose ones. */
  count: 10_000_000,
  /** Amounts of resources and pools: bytes of an exabyte. */
  amount: 1e18,
  /** Seconds that a wake message may be ahead of its moment. */
  wakeSeconds: 3600,
  /** Priorities, above and below 0. */
  priority: 1e9,
  /** Jobs in one message; those that cannot be read count too. */
  jobs: 200_000,
  /** Entries of `nodearrays` in one message. */
  nodearrays: 1000,
  /** Pools in one message. */
  pools: 1000,
  /** Hosts in one report: twice the largest cluster that this was tried with. */
  hosts: 20_000,
  /** Jobs that a report or a job names of one host, and hosts that one job names. */
  placed: 20_000,
  /** Values in one list of a constraint. */
  choices: 10_000,
  /** Alternatives of one "or" or "xor". */
  alternatives: 100,
  /** Constraints of one job, those inside others included. */
  constraints: 1000,
  /** VM sizes of one entry of `nodearrays`. */
  machineTypes: 1000,
  /** Rules for senders in a configuration; names, and attributes, of one rule. */
  senderRules: 1000,
  /** Problems of one input, or of one job, that are described; the rest is counted. */
  problems: 100,
  /** Jobs of one message that are kept with what is wrong with them; the rest is counted. */
  rejectedJobs: 100,
} as const;
