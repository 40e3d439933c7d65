import type { Edit } from "../support/product-copy.ts";

/** The product without one mitigation of docs/threat-model.md, and the test that this line names. */
export interface ThreatMutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly file: string;
  /** Part of the name of at least one test that must fail. */
  readonly test: string;
}

const mutant = (
  name: string,
  [file, find, put]: readonly [file: string, find: string, put: string],
  proof: string,
  test: string,
): ThreatMutant => ({ name, edits: [{ file, find, put }], file: proof, test });

export const MUTANTS: readonly ThreatMutant[] = [
  mutant(
    "T1: any token of the right form is good",
    [
      "src/decide/autostop/autostop-token.ts",
      "if (timingSafeEqual(sign(read.secret, cluster, array), read.given)) found",
      "if (sign(read.secret, cluster, array).length === read.given.length) found",
    ],
    "test/decide/autostop/autostop-token.test.ts",
    "a token",
  ),
  mutant(
    "T2: a token is for every cluster",
    [
      "src/decide/autostop/autostop-token.ts",
      "update(`${cluster}\\n${array}`)",
      "update(`${cluster.slice(0, 0)}\\n${array}`)",
    ],
    "test/decide/autostop/autostop-token.test.ts",
    "a token is worth nothing in another cluster",
  ),
  mutant(
    "T3: a bound node's calls need no token",
    [
      "src/decide/autostop/stop-survey.ts",
      "return binding === undefined || binding.token === token || ",
      "return binding !== token || ",
    ],
    "test/functions/autostop-door.test.ts",
    "binds it at its first call; a neighbour with the same stop URL is refused, and it is shown",
  ),
  mutant(
    "T4: a job keeps no unhealthy node",
    [
      "src/decide/autostop/stop-objections.ts",
      'return busy === undefined ? undefined : { ...busy, held: "job" };',
      "return undefined;",
    ],
    "test/decide/autostop/unhealthy.test.ts",
    "it stays, and is never told to open",
  ),
  mutant(
    "T4: any number of nodes go as unhealthy",
    ["src/decide/autostop/unhealthy.ts", "return room <= 0;", "return room <= -1000;"],
    "test/decide/autostop/unhealthy.test.ts",
    "all of 20 nodes say so at once: three go, and the others are held and shown",
  ),
  mutant(
    "T5: a report proves a host idle where another set's job was planned",
    [
      "src/decide/nodes/planned-beside.ts",
      "return jobs.length === 0 ? undefined : { jobs };",
      "return jobs.length === 0 ? fact : { jobs };",
    ],
    "test/decide/nodes/planned-beside.test.ts",
    "and full: the node is not stopped, and its callback is refused",
  ),
  mutant(
    "T6: tokens stay in CycleCloud's texts",
    ["src/domain/secrets.ts", "left.replace(pattern, `$1${HIDDEN}`)", "left"],
    "test/adapters/cyclecloud/cyclecloud-outcomes.test.ts",
    "conflict that quotes our URL",
  ),
  mutant(
    "T9: what a server sends back is taken as it is",
    [
      "src/adapters/cyclecloud/http-exchange.ts",
      "=> hide(text, answer.statusCode);",
      "=> (hide(text, answer.statusCode) === '' ? '' : text);",
    ],
    "test/adapters/cyclecloud/quoted-credentials.test.ts",
    "the token without its kind",
  ),
  mutant(
    "T12: the client follows redirects",
    ["src/client/call.ts", 'redirect: "manual",', 'redirect: "follow",'],
    "test/client/redirect.test.ts",
    "is not followed: the other host gets nothing",
  ),
  mutant(
    "T13: two roles share a function",
    [
      "src/domain/roles.ts",
      'sender: ["write-request-set"],',
      'sender: ["write-request-set", "write-config"],',
    ],
    "test/functions/roles.test.ts",
    "every function with a key is in exactly one role",
  ),
  mutant(
    "T14: an unknown cluster is named",
    [
      "functions/autostop.ts",
      "if (site === undefined || !mayBeAutostopToken",
      "if (site === undefined) return { status: 404 };\n  if (!mayBeAutostopToken",
    ],
    "test/functions/autostop-door.test.ts",
    "an unknown cluster, an unknown array and a wrong token look alike",
  ),
  mutant(
    "T18: any nesting is read",
    ["src/wire/json/bounds.ts", "levels: 64,", "levels: 64_000,"],
    "test/wire/bounds.test.ts",
    "a job nested too deep",
  ),
  mutant(
    "T20: any number of dry runs is made at a time",
    ["functions/plan.ts", "if (underWay.has(composed))", "if (underWay.has(composed) && body.length < 0)"],
    "test/functions/plan.test.ts",
    "one dry run at a time: another one is sent away, and told when to come again",
  ),
  mutant(
    "T23: no rule has a share of its own",
    ["src/decide/senders/shares.ts", "(write ? share : 0);", "(write ? 0 * share : 0);"],
    "test/decide/record/shares.test.ts",
    "whatever one sender holds, the other has its share",
  ),
  mutant(
    "T23: any number of sets is kept",
    ["src/decide/record/cluster-bounds.ts", "sets: 5000,", "sets: 5_000_000,"],
    "test/decide/record/cluster-bounds.test.ts",
    "one more is refused",
  ),
  mutant(
    "T25: a rule's largest priority is not kept",
    ["src/decide/senders/admit.ts", "ranked.demand.priority <= maxPriority)", "ranked.demand.priority > 0)"],
    "test/decide/senders/in-force.test.ts",
    "a priority above the rule's is lowered to it, and no other",
  ),
  mutant(
    "T25: what a rule lists as its own is anybody's",
    [
      "src/decide/senders/sender-rule.ts",
      "return !rules.some(({ [key]: list }) =>",
      "return !rules.slice(1_000_000).some(({ [key]: list }) =>",
    ],
    "test/decide/senders/in-force.test.ts",
    "is kept for the set that the configuration names, also if another one has owned it until then",
  ),
  mutant(
    "T27: every attribute may be set",
    [
      "src/decide/senders/allowed-attributes.ts",
      "if (attributes === undefined || allowed.includes(EVERY_ATTRIBUTE)) return NONE;",
      "if (attributes === undefined || allowed.length >= 0) return NONE;",
    ],
    "test/functions/senders.test.ts",
    "over HTTP: 400 with each of them; nothing is stored or created",
  ),
  mutant(
    "T31: problems show texts",
    ["src/wire/json/problem.ts", '`"${value}"` : `text of', '`"${value}"` : `${value} text of'],
    "test/wire/found.test.ts",
    "problems of a demand message hold nothing of",
  ),
  mutant(
    "T32: an observation keeps the whole Configuration",
    [
      "src/domain/named-configuration.ts",
      ".filter(([key]) => keys.has(key));",
      ".filter(([key]) => keys.has(key) || key !== '');",
    ],
    "test/functions/template-secrets.test.ts",
    "in no stored row",
  ),
  mutant(
    "T39: a page of another origin is served",
    ["src/domain/loopback.ts", "if (!URL.canParse(origin)) return true;", "if (origin !== '') return false;"],
    "test/local/foreign-origin.test.ts",
    "by the simulator: a page sets no fault",
  ),
  mutant(
    "T40: routes without a key read any body",
    [
      "src/local/host/http-trigger.ts",
      'return endpoint?.authLevel === "anonymous" ? Math.min(most, MOST_ANONYMOUS_BYTES) : most;',
      'return endpoint?.authLevel === "anonymous" ? Math.max(most, MOST_ANONYMOUS_BYTES) : most;',
    ],
    "test/functions/autostop-door.test.ts",
    "a body of 5 MB is not read by the routes without a key: 413, also with a right token",
  ),
  mutant(
    "T40: each refused token is a line of the log",
    [
      "src/app/autostop/answer-autostop.ts",
      "const REFUSED_EACH_SECONDS: Seconds = 60;",
      "const REFUSED_EACH_SECONDS: Seconds = 0;",
    ],
    "test/functions/autostop-reads.test.ts",
    "refused tokens are logged once a minute for a cluster, with their number, and a right one is not",
  ),
  mutant(
    "T42: a claim counts as long as it is asked for",
    [
      "src/decide/senders/foreign-claims.ts",
      "const CLAIM_SECONDS: Seconds = 3600;",
      "const CLAIM_SECONDS: Seconds = 3_600_000;",
    ],
    "test/scenarios/foreign-claims.test.ts",
    "the claim counts for an hour; then they stop, and no node comes in their place",
  ),
  mutant(
    "T43: a rejected message may be of any moment",
    [
      "src/adapters/queue/message-text.ts",
      'isMoment(value["rejectedAt"]) &&',
      'typeof value["rejectedAt"] === "number" &&',
    ],
    "test/adapters/queue/demand-queue.test.ts",
    "what others have put there is counted and not shown",
  ),
  mutant(
    "T44: a number of any size is the node's time",
    [
      "functions/autostop.ts",
      "const LONGEST_AHEAD_SECONDS: Seconds = 86_400;",
      "const LONGEST_AHEAD_SECONDS: Seconds = 1e12;",
    ],
    "test/functions/stop-question.test.ts",
    "is left out, and makes no later question an old one",
  ),
  mutant(
    "T45: what the command line complains of is printed as it is",
    [
      "src/cli/command-line.ts",
      "terminal.complain(showLines(hideSecrets(text)))",
      "terminal.complain(hideSecrets(text))",
    ],
    "test/cli/hostile-texts.test.ts",
    "words of the command line itself are shown as others are",
  ),
  mutant(
    "T45: names may turn what is beside them",
    ["src/domain/name.ts", "return isKeptName(value) && !isActing(value);", "return isKeptName(value);"],
    "test/wire/name.test.ts",
    "of a set is refused in the queue",
  ),
  mutant(
    "T46: errors of what was not sent are shown",
    [
      "src/client/call.ts",
      "if (cause instanceof Error) return systemText(cause);",
      "if (error instanceof Error) return `${error.message} ${String(cause)}`;",
    ],
    "test/client/hostile-server.test.ts",
    "a line break in the key",
  ),
  mutant(
    "T47: a name that looks like another one is no doubt",
    [
      "src/wire/policy/odd-names.ts",
      "PLAIN.test(text) ? undefined : oddityOf(text)",
      "PLAIN.test(text) ? oddityOf(text) : undefined",
    ],
    "test/wire/policy/odd-names.test.ts",
    "is a doubt, wherever the name stands",
  ),
  mutant(
    "T49: the memory of demand is not counted",
    ["src/domain/demand-memory.ts", "for (const demand of demands) count.addDemand(demand);", ""],
    "test/decide/record/heaps.test.ts",
    "a message is refused where it would need more memory than the smallest heap allows, with the reason in words",
  ),
  mutant(
    "T49: what does not fit is read all the same",
    [
      "src/decide/record/processes.ts",
      'if (load.memory > left) aside.set(load.set, "memory");\n    else left',
      "left",
    ],
    "test/decide/record/heaps.test.ts",
    "what came last is not read where memory is short; what is small still fits",
  ),
  mutant(
    "T49: the gate lets everything in",
    ["src/app/process/gate.ts", "if (lane.taken > 0 && lane.taken + weight > lane.room) return;", ""],
    "test/functions/memory.test.ts",
    "that is large waits while others are read, and then goes back or is answered 503; a small one is taken",
  ),
  mutant(
    "T49: deaths are not counted",
    [
      "src/decide/record/processes.ts",
      "const counted = others.filter(isDead)",
      "const counted = others.slice(0, 0)",
    ],
    "test/functions/memory.test.ts",
    "when two processes died over a plan, the next one leaves out what came last and says so; ten minutes later it plans all",
  ),
];
