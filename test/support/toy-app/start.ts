/** Starts the toy app in a host of this process, with settings that keep quiet what a test does not look at. */
import { startHost } from "../../../src/local/host/host.ts";
import { scaledClock } from "../../../src/local/scaled-clock.ts";
type HostOptions = Parameters<typeof startHost>[0];

type Host = Awaited<ReturnType<typeof startHost>>;

/** The toy app has three queues, and at 60 times the speed each would be polled thirty times a second. This is twice. */
const PATIENT_QUEUES = {
  batchSize: 16,
  newBatchThreshold: 8,
  maxDequeueCount: 5,
  visibilityTimeout: "00:00:00",
  maxPollingInterval: "00:00:30",
  messageEncoding: "none",
};

/** A host.json with these settings of queues. */
export const hostJson = (queues: Readonly<Record<string, unknown>> = {}, functionTimeout = "00:30:00") => ({
  version: "2.0",
  functionTimeout,
  extensions: { http: { routePrefix: "api" }, queues: { ...PATIENT_QUEUES, ...queues } },
});

export const quietSettings = {
  TOY_SETTING: "from settings",
  ...Object.fromEntries(
    ["tick", "overlong", "off", "switched-off"].map((name) => [`AzureWebJobs.${name}.Disabled`, "true"]),
  ),
};

export type ToyOptions = Partial<Omit<HostOptions, "app">> & {
  readonly connectionString: string;
  /** host.json's extensions.queues. */
  readonly queues?: Readonly<Record<string, unknown>>;
  readonly origin?: number;
};

export function startToyHost({ settings, queues, origin, ...rest }: ToyOptions): Promise<Host> {
  const speed = rest.speed ?? 60;
  return startHost({
    hostJson: hostJson(queues),
    clock: scaledClock({ origin: origin ?? Date.now(), speed }),
    ...rest,
    app: () => import("./main.ts"),
    settings: { ...quietSettings, ...settings },
    speed,
  });
}
