/** Starts the toy app in a host of this process, with settings that keep quiet what a test does not look at. */
import { startHost, type Host, type HostOptions } from "../../../src/local/host/host.ts";
import { scaledClock } from "../../../src/local/scaled-clock.ts";

/** The toy app has six queues, and at 60 times the speed each would be polled thirty times a second. This is twice. */
export const PATIENT_QUEUES = { messageEncoding: "none", maxPollingInterval: "00:00:30" };

/** Once in four years: never, for a test. */
export const never = "0 0 0 29 2 *";

export const quietSettings = {
  ORDERS_QUEUE: "orders",
  TICK: never,
  RARE: never,
  OVERLONG: never,
  TOY_SETTING: "from settings",
  "AzureWebJobs.off.Disabled": "true",
  "AzureWebJobs.switched-off.Disabled": "1",
  "AzureWebJobs.at-start.Disabled": "true",
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
    hostJson: { version: "2.0", extensions: { queues: { ...PATIENT_QUEUES, ...queues } } },
    clock: scaledClock({ origin: origin ?? Date.now(), speed }),
    ...rest,
    app: () => import("./main.ts"),
    settings: { ...quietSettings, ...settings },
    speed,
  });
}
