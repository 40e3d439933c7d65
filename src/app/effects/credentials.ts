import { isoTime, secondsBetween } from "../../domain/units.ts";
import type { ReconcileFailure } from "../../domain/troubles.ts";
import type { Site } from "../ports/ports.ts";
import type { PortErrorKind } from "../ports/port-error.ts";
import { PortError } from "../ports/port-error.ts";
import type { App } from "../process/lanes.ts";
import type { Seconds } from "../../domain/units.ts";

/** No call after a failed sign-in for this long: five failures within a minute lock a CycleCloud account (cyclecloud-wire.md B). */
const PAUSE_SECONDS: Seconds = 300;
/** Maximum wait for another cluster's first call: its server may hang. */
const TRIAL_SECONDS: Seconds = 10;

/**
 * Runs one call to CycleCloud unless its credentials were recently refused. All instances share a refusal. Credentials that this process
 * has not yet seen accepted are tried by one call at a time: otherwise the clusters of one account would fail together and lock it. Throws
 * PortError "denied" without a call after a refusal, and every PortError of the call.
 */
export async function withCredentials<T>(app: App, site: Site, call: () => Promise<T>): Promise<T> {
  await requireNotRefused(app, site);
  const { accepted, running } = app.lanes.trials;
  const { credential } = site;
  while (!accepted.has(credential)) {
    const trial = running.get(credential);
    if (trial === undefined) break;
    const ended = await endsInTime(app, trial);
    await requireNotRefused(app, site);
    if (!ended) break;
  }
  const called = signIn(app, site, call);
  if (!accepted.has(credential)) {
    const forget = () => void running.delete(credential);
    running.set(credential, called.then(forget, forget));
  }
  return called;
}

/** Whether this process does not reach CycleCloud, as far as this error of a call shows. Another instance may reach it. */
export function isSilence({ kind }: { readonly kind: PortErrorKind | ReconcileFailure["kind"] }): boolean {
  return kind === "unreachable" || kind === "denied";
}

async function requireNotRefused(app: App, site: Site): Promise<void> {
  const { breaker, clock } = app.ports;
  const refusedAt = await breaker.refusedAt(site.credential);
  if (refusedAt === undefined || secondsBetween(refusedAt, clock.now()) >= PAUSE_SECONDS) return;
  throw new PortError(
    "denied",
    "CycleCloud",
    `credentials were refused at ${isoTime(refusedAt)}; no call for ${PAUSE_SECONDS} s`,
  );
}

async function endsInTime(app: App, trial: Promise<void>): Promise<boolean> {
  const ended = new AbortController();
  const timeout = app.ports.clock.sleep(TRIAL_SECONDS * 1000, ended.signal);
  const isInTime = await Promise.race([trial.then(() => true), timeout.then(() => false)]);
  ended.abort("over");
  return isInTime;
}

async function signIn<T>(app: App, site: Site, call: () => Promise<T>): Promise<T> {
  const { breaker, clock } = app.ports;
  const { accepted } = app.lanes.trials;
  try {
    const result = await call();
    accepted.add(site.credential);
    return result;
  } catch (error) {
    if (error instanceof PortError && error.status === 401) {
      accepted.delete(site.credential);
      await breaker.note(site.credential, clock.now());
    }
    throw error;
  }
}
