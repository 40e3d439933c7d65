/** How a command ends. Scripts may rely on it. */
export const EXIT = {
  /** Done; the answer is good. */
  done: 0,
  /** The answer is no: refused, unknown, not allowed, unhealthy, demand left unmet, the node is needed, a job left out. */
  no: 1,
  /** The arguments or a file are invalid. Nothing was done. */
  usage: 2,
  /** No answer, "no answer possible now", or the time of --wait is over: try again. */
  unreachable: 3,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** For the end of the help text. */
export const EXIT_HELP = `
Exit codes:
  0  done
  1  the answer is no: refused, unknown, not allowed, unhealthy, demand left unmet, the node is needed, a job left out
  2  the arguments or a file are invalid; nothing was done
  3  no answer, "cannot tell now", or the time of --wait is over: try again`;
