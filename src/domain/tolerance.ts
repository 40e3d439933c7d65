/** Relative tolerance for comparing resources: 0.1 taken ten times from 1 leaves exactly nothing. */
export const TOLERANCE = 1e-9;
