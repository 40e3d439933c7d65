/** Resources are compared with a relative tolerance: 0.1 taken ten times from 1 leaves room for nothing and owes nothing. */
export const TOLERANCE = 1e-9;
