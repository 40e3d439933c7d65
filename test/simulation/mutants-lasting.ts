import type { Kind } from "./kinds.ts";
import type { Mutant } from "./mutants.ts";

/**
 * The product with one rule of docs/protocol.md left out. The first seeds of one kind of weather find it: it took 56 at most when this was
 * written.
 */
function inWeather(
  kind: Kind,
  mutant: Omit<Mutant, "kind" | "seeds"> & Pick<Partial<Mutant>, "seeds">,
): Mutant {
  return { seeds: 100, ...mutant, kind };
}

export const LASTING_MUTANTS: readonly Mutant[] = [
  inWeather("slow", {
    name: "a look that slow calls made old is thrown away",
    edits: [
      {
        in: "observeCluster",
        from: "questions.begin(open, (id) => nodesOfOne(run, id));\n    const status = await answer",
        to: "const status = await answer;\n    questions.begin(open, (id) => nodesOfOne(run, id))",
      },
      {
        in: "observeCluster",
        from: "endsWithin(app, questions.allEnded(), ANSWERS_WAIT_SECONDS",
        to: "questions.allEnded(",
      },
      { in: "isObservationOld", from: "> OBSERVATION_GOOD_SECONDS + patienceSeconds(record)", to: "> 5" },
    ],
    moves: "late",
  }),
  inWeather("lost", {
    name: "a node whose stop may be lost is replaced",
    edits: [
      {
        in: "standingOf",
        from: 'if (isUnfit) return { ...found, kind: "unfit" };',
        to: 'if (isUnfit || isOpen) return { ...found, kind: "unfit" };',
      },
    ],
    moves: "overshoot",
  }),
  inWeather("lost", {
    name: "a node is told to open while its stop may be under way",
    edits: [
      {
        in: "UNDER_WAY",
        from: "const UNDER_WAY: StopAnswer = STOP_UNDER_WAY;",
        to: 'const UNDER_WAY: StopAnswer = { kind: "cannot-tell", why: "mutant", undrain: true };',
      },
    ],
    moves: "wrongUndrain",
  }),
  inWeather("races", {
    name: "a plan stops a host although its report has changed",
    edits: [
      {
        in: "amend",
        from: "...withoutContradicted(decision, record, bodies, policy, now",
        to: "...(bodies.plan === undefined ? withoutContradicted(decision, record, bodies, policy, now) : decision",
      },
      {
        in: "withdrawContradicted",
        from: "return nodes.size === 0 ? state :",
        to: "return nodes.size >= 0 ? state :",
      },
    ],
    moves: "stoppedNeeded",
  }),
  {
    name: "a late boot is stopped though a report was not read, or is newer than the status",
    edits: [{ in: "whyGivenUp", from: "|| around.mayBeBusy === true", to: "" }],
    moves: "stoppedNeeded",
    kind: "everything",
    seeds: [1277],
  },
  inWeather("late", {
    name: "a stop is taken for lost while it may still arrive",
    edits: [
      {
        in: "settleStopsByObservation",
        from: "snapshot.at >= intent.certainFrom",
        to: "snapshot.at >= intent.leaseUntil",
      },
    ],
    moves: "stoppedOpen",
  }),
  inWeather("scripts", {
    name: "an old question is granted after a newer one was told to stay",
    edits: [{ in: "isOvertaken", from: "return asked <= question.asked &&", to: "return asked < 0 &&" }],
    moves: "stoppedOpen",
    seeds: [419],
  }),
  inWeather("scripts", {
    name: "a report stops a node that has just asked, or was told to stay",
    edits: [
      {
        in: "noteStayUnmarked",
        from: "return asking.asked === undefined && isRecent ? question :",
        to: "return now > 0 || isRecent ? question :",
      },
      {
        in: "mayStopByReport",
        from: "if (question === undefined || reportedAt === undefined)",
        to: "if (now > 0 || question === undefined || reportedAt === undefined)",
      },
      {
        in: "isContradicted",
        from: "if (question?.stayAt !== undefined && question.stayAt >= decidedAt) return true;",
        to: "",
      },
      {
        in: "isContradicted",
        from: "isIdle || (question?.askedAt !== undefined && question.askedAt >= decidedAt)",
        to: "isIdle",
      },
    ],
    moves: "stoppedOpen",
  }),
  inWeather("stops", {
    name: "marks and grants make a look too old",
    edits: [
      {
        in: "effectsOf",
        from: "return { epoch, created: totals.created, started: totals.",
        to: "return { epoch, created: totals.created + totals.terminated, started: totals.",
      },
    ],
    moves: "waited",
  }),
  inWeather("late", {
    name: "a create is taken for lost while it may still arrive",
    edits: [
      {
        in: "certainAfterSend",
        from: "= answered ? now : plusSeconds(now, callLimitSeconds)",
        to: "= answered || callLimitSeconds > 0 ? plusSeconds(now, -lagSeconds) : now",
      },
    ],
    moves: "overshoot",
  }),
  inWeather("unclear", {
    name: "an unclear node is replaced at once",
    edits: [
      {
        in: "flawShown",
        from: "until: plusSeconds(unclearSince, bootSeconds)",
        to: "until: plusSeconds(unclearSince, -bootSeconds)",
      },
      {
        in: "DISBELIEVED_SECONDS",
        from: "const DISBELIEVED_SECONDS: Seconds = 600;",
        to: "const DISBELIEVED_SECONDS: Seconds = 0;",
      },
      {
        in: "ReplaceRoom.turnOf",
        from: 'known?.busyness.state === "busy" || !this.take(array, known)',
        to: 'known?.busyness.state === "busy"',
      },
    ],
    moves: "overshoot",
  }),
  inWeather("waves", {
    name: "losses are doubted as one, and again with each node more",
    edits: [
      {
        in: "withMissing",
        from: "{ ...lackOf(node, snapshot, before),",
        to: "{ ...lackOf(node, snapshot, before), ...(listed.size < before.nodes.length ? { since: snapshot.at } : {}),",
      },
    ],
    moves: "waited",
  }),
  inWeather("half", {
    name: "a node that a status lacks is gone at once",
    edits: [
      {
        in: "MISSING_SECONDS",
        from: "const MISSING_SECONDS: Seconds = 60;",
        to: "const MISSING_SECONDS: Seconds = 0;",
      },
      {
        in: "MISSING_OBSERVATIONS",
        from: "const MISSING_OBSERVATIONS = 3;",
        to: "const MISSING_OBSERVATIONS = 1;",
      },
      {
        in: "NAMED_SECONDS",
        from: "const NAMED_SECONDS: Seconds = 180;",
        to: "const NAMED_SECONDS: Seconds = 0;",
      },
    ],
    moves: "overshoot",
  }),
  inWeather("standstill", {
    name: "a stop is lost by an early observation",
    edits: [
      { in: "settleStopsByObservation", from: "snapshot.early !== true && snapshot.at", to: "snapshot.at" },
    ],
    moves: "stoppedOpen",
  }),
  inWeather("standstill", {
    name: "a create is unknown by an early question",
    edits: [
      {
        in: "isCertain",
        from: "if (isEarly(record, askedAt)) return false;",
        to: "if (isEarly(record, askedAt) && askedAt < 0) return false;",
      },
    ],
    moves: "overshoot",
  }),
  inWeather("standstill", {
    name: "a node opens 180 s after its question, whatever it is told",
    edits: [
      {
        in: "isOver",
        from: "held ? LONGEST_MS : OVER_MS",
        to: "OVER_MS",
      },
    ],
    moves: "stoppedOpen",
  }),
  inWeather("standstill", {
    name: "an answer does not say that a stop is under way",
    edits: [
      {
        in: "responseOf",
        from: "answer.underWay === true ? { stopUnderWay: true } : {}",
        to: "answer.underWay === true ? {} : {}",
      },
    ],
    moves: "stoppedOpen",
  }),
  inWeather("queued", {
    name: "a question counts from its arrival, however long it was on its way",
    edits: [
      {
        in: "judgeAlone",
        from: "if (call.begin && isHeldUp(clock, call))",
        to: "if (call.begin && now < 0 && isHeldUp(clock, call))",
      },
    ],
    moves: "stoppedOpen",
  }),
  inWeather("frozen", {
    name: "nobody looks at the clock in the turn in which a change is written",
    edits: [
      {
        in: "post",
        from: "return inTime === undefined ? change : { ...change, inTime }",
        to: "return inTime === undefined ? change : change",
      },
    ],
    moves: "wrongSend",
  }),
];
