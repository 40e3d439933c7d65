/**
 * What one node offers or one slot of a job takes: resource name -> amount. Names in use: ncpus (vCPUs), mem (GiB), ngpus, and whatever a
 * node array's Configuration.autoscale.resources or a scheduler report adds. An amount that is absent is zero.
 */
export type Resources = Readonly<Record<string, number>>;
