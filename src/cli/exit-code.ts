/** How a command ends: what a script may rely on. */
export const EXIT = {
  /** Done; the answer is good. */
  done: 0,
  /** The answer is no: refused, unknown, not allowed, unhealthy, demand left unmet, the node is needed, a job left out. */
  no: 1,
  /** The arguments, or a file, make no sense; nothing was done. */
  usage: 2,
  /** No answer, "cannot tell now", or the time of --wait is over: try again. */
  unreachable: 3,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** For the foot of the help text. */
export const EXIT_HELP = `
Exit codes:
  0  done
  1  the answer is no: refused, unknown, not allowed, unhealthy, demand left unmet, the node is needed, a job left out
  2  the arguments or a file make no sense; nothing was done
  3  no answer, "cannot tell now", or the time of --wait is over: try again`;
