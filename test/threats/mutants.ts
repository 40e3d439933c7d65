import type { Edit } from "../support/mutate.ts";

/** The product without one mitigation of docs/threat-model.md, and the test that this line names. */
export interface ThreatMutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly file: string;
  /** Part of the name of at least one test that must fail. */
  readonly test: string;
}

const mutant = (name: string, edit: Edit, proof: string, test: string): ThreatMutant => ({
  name,
  edits: [edit],
  file: proof,
  test,
});

export const MUTANTS: readonly ThreatMutant[] = [
  mutant(
    "T1: any token of the right form is good",
    {
      in: "verifyToken",
      from: "timingSafeEqual(sign(read.secret, cluster, array), read.given)",
      to: "sign(read.secret, cluster, array).length === read.given.length",
    },
    "test/decide/autostop/autostop-token.test.ts",
    "a token",
  ),
  mutant(
    "T2: a token is for every cluster",
    {
      in: "sign",
      from: "update(`${cluster}\\n${array}`)",
      to: "update(`${cluster.slice(0, 0)}\\n${array}`)",
    },
    "test/decide/autostop/autostop-token.test.ts",
    "a token is worth nothing in another cluster",
  ),
  mutant(
    "T3: a bound node's calls need no token",
    {
      in: "maySpeak",
      from: "return binding === undefined || binding.token === token ||",
      to: "return binding !== token ||",
    },
    "test/functions/autostop-door.test.ts",
    "binds it at its first call; a neighbour with the same stop URL is refused, and it is shown",
  ),
  mutant(
    "T4: a job keeps no unhealthy node",
    { in: "objectionTo", from: 'busy === undefined ? undefined : { ...busy, held: "job" }', to: "undefined" },
    "test/decide/autostop/unhealthy.test.ts",
    "it stays, and is never told to open",
  ),
  mutant(
    "T4: any number of nodes go as unhealthy",
    { in: "heldByLimit", from: "return room <= 0;", to: "return room <= -1000;" },
    "test/decide/autostop/unhealthy.test.ts",
    "all of 20 nodes say so at once: three go, and the others are held and shown",
  ),
  mutant(
    "T5: a report proves a host idle where another set's job was planned",
    {
      in: "factThatCounts",
      from: "return jobs.length === 0 ? undefined : { jobs };",
      to: "return jobs.length === 0 ? fact : { jobs };",
    },
    "test/decide/nodes/planned-beside.test.ts",
    "and full: the node is not stopped, and its callback is refused",
  ),
  mutant(
    "T6: tokens stay in CycleCloud's texts",
    { in: "hideSecrets", from: "left.replace(pattern, `$1${HIDDEN}`)", to: "left" },
    "test/adapters/cyclecloud/cyclecloud-outcomes.test.ts",
    "conflict that quotes our URL",
  ),
  mutant(
    "T9: what a server sends back is taken as it is",
    {
      in: "readAnswer",
      from: "=> hide(text, answer.statusCode);",
      to: "=> (hide(text, answer.statusCode) === '' ? '' : text);",
    },
    "test/adapters/cyclecloud/quoted-credentials.test.ts",
    "the token without its kind",
  ),
  mutant(
    "T12: the client follows redirects",
    { in: "request", from: 'redirect: "manual",', to: 'redirect: "follow",' },
    "test/client/redirect.test.ts",
    "is not followed: the other host gets nothing",
  ),
  mutant(
    "T13: two roles share a function",
    {
      in: "FUNCTIONS",
      from: 'sender: ["write-request-set"],',
      to: 'sender: ["write-request-set", "write-config"],',
    },
    "test/functions/roles.test.ts",
    "every function with a key is in exactly one role",
  ),
  mutant(
    "T14: an unknown cluster is named",
    {
      in: "handleAutostop",
      from: "if (site === undefined || !mayBeAutostopToken",
      to: "if (site === undefined) return { status: 404 };\n  if (!mayBeAutostopToken",
    },
    "test/functions/autostop-door.test.ts",
    "an unknown cluster, an unknown array and a wrong token look alike",
  ),
  mutant(
    "T18: any nesting is read",
    { in: "BOUNDS", from: "levels: 64,", to: "levels: 64_000," },
    "test/wire/bounds.test.ts",
    "a job nested too deep",
  ),
  mutant(
    "T20: any number of dry runs is made at a time",
    {
      in: "postPlan",
      from: "if (underWay.has(composed))",
      to: "if (underWay.has(composed) && body.length < 0)",
    },
    "test/functions/plan.test.ts",
    "one dry run at a time: another one is sent away, and told when to come again",
  ),
  mutant(
    "T23: no rule has a share of its own",
    { in: "sharesOf", from: "(write ? share : 0);", to: "(write ? 0 * share : 0);" },
    "test/decide/record/shares.test.ts",
    "whatever one sender holds, the other has its share",
  ),
  mutant(
    "T23: any number of sets is kept",
    { in: "CLUSTER_BOUNDS", from: "sets: 5000,", to: "sets: 5_000_000," },
    "test/decide/record/cluster-bounds.test.ts",
    "one more is refused",
  ),
  mutant(
    "T25: a rule's largest priority is not kept",
    { in: "lowered", from: "ranked.demand.priority <= maxPriority)", to: "ranked.demand.priority > 0)" },
    "test/decide/senders/in-force.test.ts",
    "a priority above the rule's is lowered to it, and no other",
  ),
  mutant(
    "T25: what a rule lists as its own is anybody's",
    {
      in: "mayOwn",
      from: "return !rules.some(({ [key]: list }) =>",
      to: "return !rules.slice(1_000_000).some(({ [key]: list }) =>",
    },
    "test/decide/senders/in-force.test.ts",
    "is kept for the set that the configuration names, also if another one has owned it until then",
  ),
  mutant(
    "T27: every attribute may be set",
    {
      in: "refusedAttributes",
      from: "=== undefined || allowed.includes(EVERY_ATTRIBUTE)",
      to: "=== undefined || allowed.length >= 0",
    },
    "test/functions/senders.test.ts",
    "over HTTP: 400 with each of them; nothing is stored or created",
  ),
  mutant(
    "T31: problems show texts",
    { in: "kindOf", from: '`"${value}"` : `text of', to: '`"${value}"` : `${value} text of' },
    "test/wire/found.test.ts",
    "problems of a demand message hold nothing of",
  ),
  mutant(
    "T32: an observation keeps the whole Configuration",
    {
      in: "namedOf",
      from: ".filter(([key]) => keys.has(key));",
      to: ".filter(([key]) => keys.has(key) || key !== '');",
    },
    "test/functions/template-secrets.test.ts",
    "in no stored row",
  ),
  mutant(
    "T39: a page of another origin is served",
    {
      in: "isForeignOrigin",
      from: "if (!URL.canParse(origin)) return true;",
      to: "if (origin !== '') return false;",
    },
    "test/local/foreign-origin.test.ts",
    "by the simulator: a page sets no fault",
  ),
  mutant(
    "T40: routes without a key read any body",
    {
      in: "bodyBound",
      from: 'return endpoint?.authLevel === "anonymous" ? Math.min(most,',
      to: 'return endpoint?.authLevel === "anonymous" ? Math.max(most,',
    },
    "test/functions/autostop-door.test.ts",
    "a body of 5 MB is not read by the routes without a key: 413, also with a right token",
  ),
  mutant(
    "T40: each refused token is a line of the log",
    {
      in: "REFUSED_EACH_SECONDS",
      from: "const REFUSED_EACH_SECONDS: Seconds = 60;",
      to: "const REFUSED_EACH_SECONDS: Seconds = 0;",
    },
    "test/functions/autostop-reads.test.ts",
    "refused tokens are logged once a minute for a cluster, with their number, and a right one is not",
  ),
  mutant(
    "T42: a claim counts as long as it is asked for",
    {
      in: "CLAIM_SECONDS",
      from: "const CLAIM_SECONDS: Seconds = 3600;",
      to: "const CLAIM_SECONDS: Seconds = 3_600_000;",
    },
    "test/scenarios/foreign-claims.test.ts",
    "the claim counts for an hour; then they stop, and no node comes in their place",
  ),
  mutant(
    "T43: a rejected message may be of any moment",
    {
      in: "isRejected",
      from: 'isMoment(value["rejectedAt"]) &&',
      to: 'typeof value["rejectedAt"] === "number" &&',
    },
    "test/adapters/queue/demand-queue.test.ts",
    "what others have put there is counted and not shown",
  ),
  mutant(
    "T44: a number of any size is the node's time",
    {
      in: "LONGEST_AHEAD_SECONDS",
      from: "const LONGEST_AHEAD_SECONDS: Seconds = 86_400;",
      to: "const LONGEST_AHEAD_SECONDS: Seconds = 1e12;",
    },
    "test/functions/stop-question.test.ts",
    "is left out, and makes no later question an old one",
  ),
  mutant(
    "T45: what the command line complains of is printed as it is",
    {
      in: "cleaned",
      from: "terminal.complain(showLines(hideSecrets(text)))",
      to: "terminal.complain(hideSecrets(text))",
    },
    "test/cli/hostile-texts.test.ts",
    "words of the command line itself are shown as others are",
  ),
  mutant(
    "T45: names may turn what is beside them",
    { in: "isName", from: "return isKeptName(value) && !isActing(value);", to: "return isKeptName(value);" },
    "test/wire/name.test.ts",
    "of a set is refused in the queue",
  ),
  mutant(
    "T46: errors of what was not sent are shown",
    {
      in: "failureText",
      from: "if (cause instanceof Error) return systemText(cause);",
      to: "if (error instanceof Error) return `${error.message} ${String(cause)}`;",
    },
    "test/client/hostile-server.test.ts",
    "a line break in the key",
  ),
  mutant(
    "T47: a name that looks like another one is no doubt",
    {
      in: "doubtNames",
      from: "PLAIN.test(text) ? undefined : oddityOf(text)",
      to: "PLAIN.test(text) ? oddityOf(text) : undefined",
    },
    "test/wire/policy/odd-names.test.ts",
    "is a doubt, wherever the name stands",
  ),
  mutant(
    "T49: the memory of demand is not counted",
    { in: "memoryOf", from: "for (const demand of demands) count.addDemand(demand);", to: "" },
    "test/decide/record/heaps.test.ts",
    "a message is refused where it would need more memory than the smallest heap allows, with the reason in words",
  ),
  mutant(
    "T49: what does not fit is read all the same",
    { in: "setAside", from: 'if (load.memory > left) aside.set(load.set, "memory");\n    else', to: "" },
    "test/decide/record/heaps.test.ts",
    "what came last is not read where memory is short; what is small still fits",
  ),
  mutant(
    "T49: the gate lets everything in",
    { in: "admit", from: "if (lane.taken > 0 && lane.taken + weight > lane.room) return;", to: "" },
    "test/functions/memory.test.ts",
    "that is large waits while others are read, and then goes back or is answered 503; a small one is taken",
  ),
  mutant(
    "T49: deaths are not counted",
    {
      in: "beginPlanning",
      from: "const counted = others.filter(isDead)",
      to: "const counted = others.slice(0, 0)",
    },
    "test/functions/memory.test.ts",
    "when two processes died over a plan, the next one leaves out what came last and says so; ten minutes later it plans all",
  ),
];
