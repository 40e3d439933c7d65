import { isoTime, secondsBetween } from "../domain/units.ts";
import type { App } from "./commit.ts";
import type { Site } from "./ports.ts";
import { PortError } from "./ports.ts";

/** Five failed sign-ins within a minute lock a CycleCloud account (cyclecloud-wire.md B): after one, nobody tries for so long. */
const PAUSE_SECONDS = 300;

/** Runs one call to CycleCloud unless its credentials were refused a short while ago; shares a refusal with every instance. */
export async function withCredentials<T>(app: App, site: Site, call: () => Promise<T>): Promise<T> {
  const { breaker, clock } = app.ports;
  const refusedAt = await breaker.refusedAt(site.credential);
  if (refusedAt !== undefined && secondsBetween(refusedAt, clock.now()) < PAUSE_SECONDS) {
    throw new PortError(
      "denied",
      "CycleCloud",
      `credentials were refused at ${isoTime(refusedAt)}; no call for ${PAUSE_SECONDS} s`,
    );
  }
  try {
    return await call();
  } catch (error) {
    if (error instanceof PortError && error.status === 401) await breaker.note(site.credential, clock.now());
    throw error;
  }
}
