import type { Environment } from "./environment.ts";
import type { Terminal } from "./terminal.ts";

const MOMENT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d/;

/**
 * In the demo, the app's clock is ahead of the shell's. `npm start -- --serve` exports that clock as "origin@speed". Then, if output contained
 * times, `close` prints once to standard error that they are simulated. Without the variable, it prints nothing.
 */
export function sayWhenSimulated(terminal: Terminal): {
  readonly terminal: Terminal;
  readonly close: () => void;
} {
  const clock = clockOf(terminal.environment);
  if (clock === undefined) return { terminal, close: () => undefined };
  let shown = false;
  return {
    terminal: {
      ...terminal,
      say: (text) => {
        shown ||= MOMENT.test(text);
        terminal.say(text);
      },
    },
    close: () => {
      if (!shown) return;
      const now = clock.origin + (terminal.now() - clock.origin) * clock.speed;
      terminal.complain(`(simulated times: in the demo it is now ${new Date(now).toISOString()})`);
    },
  };
}

function clockOf(environment: Environment): { readonly origin: number; readonly speed: number } | undefined {
  const [origin, speed] = environment["AUTOSCALER_SIMULATED_CLOCK"]?.split("@").map(Number) ?? [];
  if (origin === undefined || speed === undefined) return undefined;
  return Number.isFinite(origin) && speed > 0 && speed !== 1 ? { origin, speed } : undefined;
}
