/**
 * Maximum sizes of input: messages, HTTP bodies, dry runs and configuration. Checked while reading, so that an input is refused before it
 * costs too much. The table is in docs/demand.md, Bounds.
 */
export const BOUNDS = {
  /** A queue message has at most 64 KiB; packed real demand of that size is below 1 MiB. Unpacked JSON by queue. */
  queueBytes: 4 * 1024 * 1024,
  /** 100,000 distinct jobs with constraints are below 32 MiB. JSON over HTTP, packed or not. */
  httpBytes: 32 * 1024 * 1024,
  /** Members and items in one input: each costs tens of bytes of memory once parsed. 200,000 jobs of 20 values have that many. */
  values: 4_000_000,
  /** The same by queue: 4 MiB of real demand have half of that. Four million bytes of "{}," take 250 MiB to parse. */
  queueValues: 600_000,
  /** Levels of nesting in one input. Readers, digests and storage are recursive. */
  levels: 64,
  /** Members of one object. */
  members: 10_000,
  /** Characters of one text. A CloudInit script in base64 has at most 87,384. */
  text: 128 * 1024,
  /** Characters of the name of a job, a host or a user. */
  name: 1000,
  /** Characters of the name of a resource. */
  resource: 200,
  /** Characters of a value to match, and of a message of "never": both are part of reasons. */
  constraintText: 4096,
  /**
   * Nodes, cores, groups or slots in one demand, also as the product of two counts: far above any region, far below the limit of exact
   * numbers.
   */
  count: 10_000_000,
  /** Amounts of resources and pools: the bytes of an exabyte. */
  amount: 1e18,
  /** Seconds from now to the moment of a wake message. */
  wakeSeconds: 3600,
  /** Durations of a configuration, in seconds: a year. */
  duration: 31_536_000,
  /** Priorities, above and below 0. */
  priority: 1e9,
  /** Jobs in one message, including those that cannot be read. */
  jobs: 200_000,
  /** Entries of `nodearrays` in one message. */
  nodearrays: 1000,
  /** Names of nodes in one message: as many as hosts in a report. */
  nodeNames: 20_000,
  /** Pools in one message. */
  pools: 1000,
  /** Hosts in one report: twice the largest cluster that was tested. */
  hosts: 20_000,
  /** Jobs that a report or a job names of one host, and hosts that one job names. */
  placed: 20_000,
  /** Values in one list of a constraint. */
  choices: 10_000,
  /** Alternatives of one "or" or "xor". */
  alternatives: 100,
  /** Constraints of one job, including nested ones. */
  constraints: 1000,
  /** Limits, and buckets, that one dry run changes. */
  changes: 1000,
  /** VM sizes of one entry of `nodearrays`. */
  machineTypes: 1000,
  /** Rules for senders in a configuration. Names and attributes in one rule. */
  senderRules: 1000,
  /** Names and patterns in all rules together. A plan compares the name of each set with them. */
  senderNames: 10_000,
  /** Entries of `default_resources`. A plan tries them on each bucket, and maybe on each node. */
  defaultResources: 200,
  /** The share of one rule for senders, compared with the others. */
  share: 1000,
  /** Problems described of one input or one job. The others are counted. */
  problems: 100,
  /** Jobs of one message that are kept with their problems. The others are counted. */
  rejectedJobs: 100,
} as const;
