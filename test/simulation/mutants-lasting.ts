import type { Kind } from "./kinds.ts";
import type { Mutant } from "./mutants.ts";

/**
 * The product with one rule of docs/protocol.md left out. The first seeds of one kind of weather find it: it took 56 at most when this was
 * written.
 */
function inWeather(kind: Kind, mutant: Omit<Mutant, "kind" | "seeds">): Mutant {
  return { ...mutant, kind, seeds: 100 };
}

export const LASTING_MUTANTS: readonly Mutant[] = [
  inWeather("slow", {
    name: "a look that slow calls made old is thrown away",
    edits: [
      {
        file: "src/app/reconcile/observe-cluster.ts",
        find: "    questions.begin(open, (id) => nodesOfOne(run, id));\n    const status = await answer;\n",
        put: "    const status = await answer;\n    questions.begin(open, (id) => nodesOfOne(run, id));\n",
      },
      {
        file: "src/app/reconcile/observe-cluster.ts",
        find: "    await endsWithin(app, questions.allEnded(), ANSWERS_WAIT_SECONDS);\n",
        put: "    await questions.allEnded();\n",
      },
      {
        file: "src/decide/pace/observation-times.ts",
        find: "> OBSERVATION_GOOD_SECONDS + patienceSeconds(record)",
        put: "> 5",
      },
    ],
    moves: "late",
  }),
  inWeather("lost", {
    name: "a node whose stop may be lost is replaced",
    edits: [
      {
        file: "src/decide/nodes/standing.ts",
        find: 'if (isUnfit) return { ...found, kind: "unfit" };',
        put: 'if (isUnfit || isOpen) return { ...found, kind: "unfit" };',
      },
    ],
    moves: "overshoot",
  }),
  inWeather("lost", {
    name: "a node is told to open while its stop may be under way",
    edits: [
      {
        file: "src/app/autostop/grant-stops.ts",
        find: "const UNDER_WAY: StopAnswer = STOP_UNDER_WAY;",
        put: 'const UNDER_WAY: StopAnswer = { kind: "cannot-tell", why: "mutant", undrain: true };',
      },
    ],
    moves: "wrongUndrain",
  }),
  inWeather("races", {
    name: "a plan stops a host although its report has changed",
    edits: [
      {
        file: "src/app/reconcile/amend-decision.ts",
        find: "...withoutContradicted(decision, record, bodies, policy, now), questions",
        put: "...(bodies.plan === undefined ? withoutContradicted(decision, record, bodies, policy, now) : decision), questions",
      },
      {
        file: "src/app/reconcile/reconcile-cluster.ts",
        find: "return nodes.size === 0 ? state :",
        put: "return nodes.size >= 0 ? state :",
      },
    ],
    moves: "stoppedNeeded",
  }),
  inWeather("late", {
    name: "a stop is taken for lost while it may still arrive",
    edits: [
      {
        file: "src/decide/intents/stops.ts",
        find: "return certainFrom ?? plusSeconds(leaseUntil, callLimitSeconds + lagSeconds);",
        put: "return leaseUntil;",
      },
    ],
    moves: "stoppedOpen",
  }),
  inWeather("scripts", {
    name: "an old question is granted after a newer one was told to stay",
    edits: [
      {
        file: "src/decide/stops/questions.ts",
        find: "return asked <= question.asked && ",
        put: "return asked < 0 && ",
      },
    ],
    moves: "stoppedOpen",
  }),
  inWeather("scripts", {
    name: "a report stops a node that has just asked, or was told to stay",
    edits: [
      {
        file: "src/decide/stops/questions.ts",
        find: "return asking.asked === undefined && isRecent ? question : noteStay(question, asking, now);",
        put: "return now > 0 || isRecent ? question : noteStay(question, asking, now);",
      },
      {
        file: "src/decide/stops/questions.ts",
        find: "if (question === undefined || reportedAt === undefined) return true;",
        put: "if (now > 0 || question === undefined || reportedAt === undefined) return true;",
      },
      {
        file: "src/decide/stops/still-idle.ts",
        find: "if (question?.stayAt !== undefined && question.stayAt >= decidedAt) return true;",
        put: "",
      },
      {
        file: "src/decide/stops/still-idle.ts",
        find: "return !isIdle || (question?.askedAt !== undefined && question.askedAt >= decidedAt);",
        put: "return !isIdle;",
      },
    ],
    moves: "stoppedOpen",
  }),
  inWeather("stops", {
    name: "marks and grants make a look too old",
    edits: [
      {
        file: "src/decide/pace/observation-times.ts",
        find: "return { epoch, created: totals.created, started: totals.started ?? 0 };",
        put: "return { epoch, created: totals.created + totals.terminated, started: totals.started ?? 0 };",
      },
    ],
    moves: "waited",
  }),
  inWeather("late", {
    name: "a create is taken for lost while it may still arrive",
    edits: [
      {
        file: "src/decide/intents/send-times.ts",
        find: "const arrived = answered ? now : plusSeconds(now, callLimitSeconds);",
        put: "const arrived = answered || callLimitSeconds > 0 ? plusSeconds(now, -lagSeconds) : now;",
      },
    ],
    moves: "overshoot",
  }),
  inWeather("unclear", {
    name: "an unclear node is replaced at once",
    edits: [
      {
        file: "src/decide/nodes/standing.ts",
        find: "until: plusSeconds(unclearSince, bootSeconds)",
        put: "until: plusSeconds(unclearSince, -bootSeconds)",
      },
      {
        file: "src/decide/nodes/missing.ts",
        find: "const DISBELIEVED_SECONDS: Seconds = 600;",
        put: "const DISBELIEVED_SECONDS: Seconds = 0;",
      },
      {
        file: "src/decide/nodes/standing.ts",
        find: 'known?.busyness.state === "busy" || !this.take(array, known)',
        put: 'known?.busyness.state === "busy"',
      },
    ],
    moves: "overshoot",
  }),
  inWeather("waves", {
    name: "losses are doubted as one, and again with each node more",
    edits: [
      {
        file: "src/decide/nodes/missing.ts",
        find: "{ ...lackOf(node, snapshot, before), ",
        put: "{ ...lackOf(node, snapshot, before), ...(listed.size < before.nodes.length ? { since: snapshot.at } : {}), ",
      },
    ],
    moves: "waited",
  }),
  inWeather("half", {
    name: "a node that a status lacks is gone at once",
    edits: [
      {
        file: "src/decide/nodes/missing.ts",
        find: "const MISSING_SECONDS: Seconds = 60;",
        put: "const MISSING_SECONDS: Seconds = 0;",
      },
      {
        file: "src/decide/nodes/missing.ts",
        find: "const MISSING_OBSERVATIONS = 3;",
        put: "const MISSING_OBSERVATIONS = 1;",
      },
      {
        file: "src/domain/unlisted.ts",
        find: "const NAMED_SECONDS: Seconds = 180;",
        put: "const NAMED_SECONDS: Seconds = 0;",
      },
    ],
    moves: "overshoot",
  }),
  inWeather("standstill", {
    name: "a stop is lost by an early observation",
    edits: [
      {
        file: "src/decide/intents/stops.ts",
        find: "snapshot.early !== true && snapshot.at",
        put: "snapshot.at",
      },
    ],
    moves: "stoppedOpen",
  }),
  inWeather("standstill", {
    name: "a create is unknown by an early question",
    edits: [
      {
        file: "src/decide/intents/settle-create.ts",
        find: "if (isEarly(record, askedAt)) return false;",
        put: "if (isEarly(record, askedAt) && askedAt < 0) return false;",
      },
    ],
    moves: "overshoot",
  }),
  inWeather("standstill", {
    name: "a node opens 180 s after its question, whatever it is told",
    edits: [
      {
        file: "src/client/stop-series.ts",
        find: "now - Math.max(askedAt, heldAt) >= OVER_MS",
        put: "now - Math.min(askedAt, heldAt) >= OVER_MS",
      },
    ],
    moves: "stoppedOpen",
  }),
  inWeather("standstill", {
    name: "an answer does not say that a stop is under way",
    edits: [
      {
        file: "functions/autostop.ts",
        find: "answer.underWay === true ? { stopUnderWay: true } : {}",
        put: "answer.underWay === true ? {} : {}",
      },
    ],
    moves: "stoppedOpen",
  }),
  inWeather("queued", {
    name: "a question counts from its arrival, however long it was on its way",
    edits: [
      {
        file: "src/decide/autostop/judge-stops.ts",
        find: "if (call.begin && isHeldUp(clock, call))",
        put: "if (call.begin && now < 0 && isHeldUp(clock, call))",
      },
    ],
    moves: "stoppedOpen",
  }),
  inWeather("frozen", {
    name: "nobody looks at the clock in the turn in which a change is written",
    edits: [
      {
        file: "src/adapters/cyclecloud/cyclecloud.ts",
        find: "return inTime === undefined ? change : { ...change, inTime };",
        put: "return inTime === undefined ? change : change;",
      },
    ],
    moves: "wrongSend",
  }),
];
