import * as z from "zod";
import type { AnsweringApi, DemandMessage, Failure } from "../client/index.ts";
import { AutoscalerError, openApi, putDemand } from "../client/index.ts";
import { withoutAbsent } from "../client/readable.ts";
import type { Instant, Seconds } from "../domain/units.ts";
import { instant } from "../domain/units.ts";
import type { AppView, Mode, NameOutcome } from "./slurm/app-view.ts";

/** The app: where demand is pushed, and where the agent asks what became of it. */
export interface App {
  /** Undefined: the message is accepted. A text says why it is not. */
  readonly push: (message: DemandMessage, now: Instant) => Promise<string | undefined>;
  /** What the app says of the names of a set now. A text says why it says nothing. */
  readonly ask: (cluster: string, set: string, now: () => Instant) => Promise<AppView | string>;
  /** Ends a set of a shim. */
  readonly empty: (cluster: string, set: string) => Promise<string | undefined>;
}

/** A push that takes longer is given up, and its reading thrown away. */
const WAIT_SECONDS: Seconds = 20;

export function openApp(url: string, key: string): App {
  const address = { url, key, waitSeconds: WAIT_SECONDS };
  const api = openApi(address, { throws: false });
  return {
    push: async (message, now) => {
      const answer = await putDemand(address, message, now);
      return answer.kind === "answered" ? undefined : textOf(answer);
    },
    ask: (cluster, set, now) => askFor(api, cluster, set, now),
    empty: async (cluster, set) => {
      const answer = await api.emptyRequestSet(cluster, set);
      return answer.kind === "answered" ? undefined : textOf(answer);
    },
  };
}

const textOf = (failure: Failure): string => new AutoscalerError(failure).message;

const moment = z.iso.datetime().transform((text) => instant(Date.parse(text)));

/** Single values that cannot be read are absent: an app of another release may say more, or less. */
const nameShown = z.object({
  name: z.string(),
  state: z.enum(["coming", "ready", "refused", "failed"]),
  since: z.number().optional().catch(undefined),
  from: moment.optional().catch(undefined),
  reason: z.string().optional().catch(undefined),
  ours: z.boolean().optional().catch(undefined),
  earlier: z.boolean().optional().catch(undefined),
  holdsFor: z.enum(["name", "everyone"]).optional().catch(undefined),
  until: moment.optional().catch(undefined),
  room: z.int().min(0).optional().catch(undefined),
});

const setShown = z.object({ names: z.array(z.unknown()).optional().catch(undefined) });

const stateShown = z.object({
  health: z.object({ lastLookAgeSeconds: z.number().optional(), restingUntil: z.string().optional() }),
  nodearrays: z.array(z.object({ name: z.string(), mode: z.enum(["act", "observe"]).optional() })),
  buckets: z.array(z.unknown()).optional().catch(undefined),
});

const bucketShown = z.object({
  nodearray: z.string(),
  machineType: z.string(),
  placementGroup: z.string().optional(),
  available: z.int().min(0),
  closed: z.string().optional(),
  limits: z.array(z.object({ kind: z.string(), unit: z.string(), left: z.number() })),
  backoff: z.object({ until: moment }).optional(),
});

async function askFor(
  api: AnsweringApi,
  cluster: string,
  set: string,
  now: () => Instant,
): Promise<AppView | string> {
  const at = now();
  const [ofSet, ofCluster] = [await api.wholeRequestSet(cluster, set), await api.wholeState(cluster)];
  if (ofSet.kind !== "answered") return textOf(ofSet);
  if (ofCluster.kind !== "answered") return textOf(ofCluster);
  const [read, state] = [setShown.safeParse(ofSet.body).data, stateShown.safeParse(ofCluster.body).data];
  if (read === undefined || state === undefined)
    return "the app answers in a form that this release does not know";
  const names = (read.names ?? []).flatMap((item) => nameShown.safeParse(item).data ?? []);
  return {
    at,
    rests: state.health.restingUntil !== undefined,
    modes: new Map(
      state.nodearrays.map(({ name, mode = "observe" }) => [name, mode] satisfies [string, Mode]),
    ),
    places: (state.buckets ?? []).flatMap((item) => placeRooms(bucketShown.safeParse(item).data)),
    names: new Map(names.map((shown) => [shown.name, outcomeOf(shown)])),
    ...withoutAbsent({ observationAge: state.health.lastLookAgeSeconds }),
  };
}

function placeRooms(bucket: z.infer<typeof bucketShown> | undefined): AppView["places"] {
  if (bucket === undefined) return [];
  const { nodearray, machineType, placementGroup, available, closed, limits, backoff } = bucket;
  const shared = limits.filter(
    ({ kind, unit }) => unit === "nodes" && ["nodearray", "cluster"].includes(kind),
  );
  return [
    {
      nodearray,
      size: machineType,
      nodes: closed === undefined && backoff === undefined ? available : 0,
      shared: Math.max(0, Math.min(...shared.map(({ left }) => left))),
      ...withoutAbsent({ group: placementGroup, until: backoff?.until }),
    },
  ];
}

function outcomeOf({ state, since, ours, earlier, ...more }: z.infer<typeof nameShown>): NameOutcome {
  const { from, reason, holdsFor, until, room } = more;
  return {
    state,
    isOurs: ours !== false,
    isEarlier: earlier === true,
    ...withoutAbsent({
      since: since === undefined ? undefined : instant(since),
      from,
      reason,
      holdsFor,
      until,
      room,
    }),
  };
}
