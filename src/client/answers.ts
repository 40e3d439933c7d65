/** The types of the HTTP API's answers, made from functions/openapi.json by `npm run openapi`. Do not edit by hand. */

export type Explanation =
  | {
      cluster: string;
      plan: number;
      /**
       * A moment, ISO 8601 in UTC.
       */
      planAt: string;
      /**
       * observe: the plan does nothing, and only shows what it would do.
       */
      mode: "observe" | "act";
      /**
       * Node arrays that are only observed; absent: none, or mode says it of all.
       */
      observed?: string[];
      /**
       * What of the cluster is only observed, as "observing only: nothing is created or stopped". Absent: nothing.
       */
      observing?: string;
      /**
       * Of all of a past plan.
       */
      counts?: {
        created: number;
        started: number;
        terminated: number;
        nodes: number;
        demands: number;
        unmet: number;
        /**
         * What the new and started nodes come to, a lower bound of that for every plan that serves as much, and the difference. Absent: there are none, or prices are unknown.
         */
        bound?: {
          unit: "nodes" | "price";
          amount: number;
          least: number;
          gap: number;
          text: string;
        };
      };
      /**
       * All of it in sentences, a line each.
       */
      text: string;
      kind: "demand";
      set: string;
      id: string;
      of: "target" | "groups" | "job";
      unit: "nodes" | "cores" | "groups" | "slots";
      asked: number;
      placed: number;
      pending: number;
      rank: number;
      ranks: number;
      places: {
        origin: "existing" | "in-flight" | "planned";
        bucket?: {
          array: string;
          machineType: string;
          placementGroup?: string;
        };
        nodeId?: string;
        name?: string;
        nodes: number;
        slots?: number;
        bound: boolean;
      }[];
      moreNodes: number;
      incomplete: boolean;
      /**
       * Items: Why something is not possible, with its quantities, by `code`.
       */
      reasons: {
        code: string;
        [k: string]: unknown;
      }[];
      reasonTexts: string[];
      moreReasons: number;
      /**
       * What stands between a demand and all that it asks for.
       */
      binding?: {
        kind: "raise" | "wait" | "too-large" | "no-raise";
        [k: string]: unknown;
      };
      ahead: {
        raise: {
          of: "limit" | "pool";
          [k: string]: unknown;
        };
        demands: number;
      }[];
      alsoIn: string[];
      /**
       * When the last of the nodes that it waits for can be expected; past: it takes longer than others did. Absent: it waits for none, they are not requested, or a past plan was asked for.
       */
      expectedReadyAt?: string;
      /**
       * What the job's driver noted of it.
       */
      metadata?: {
        [k: string]: unknown;
      };
    }
  | {
      cluster: string;
      plan: number;
      /**
       * A moment, ISO 8601 in UTC.
       */
      planAt: string;
      /**
       * observe: the plan does nothing, and only shows what it would do.
       */
      mode: "observe" | "act";
      /**
       * Node arrays that are only observed; absent: none, or mode says it of all.
       */
      observed?: string[];
      /**
       * What of the cluster is only observed, as "observing only: nothing is created or stopped". Absent: nothing.
       */
      observing?: string;
      /**
       * Of all of a past plan.
       */
      counts?: {
        created: number;
        started: number;
        terminated: number;
        nodes: number;
        demands: number;
        unmet: number;
        /**
         * What the new and started nodes come to, a lower bound of that for every plan that serves as much, and the difference. Absent: there are none, or prices are unknown.
         */
        bound?: {
          unit: "nodes" | "price";
          amount: number;
          least: number;
          gap: number;
          text: string;
        };
      };
      /**
       * All of it in sentences, a line each.
       */
      text: string;
      kind: "node";
      nodeId: string;
      name: string;
      hostname?: string;
      array: string;
      purpose: string;
      /**
       * Why a node stays or is stopped.
       */
      verdict?: {
        kind: string;
        [k: string]: unknown;
      };
      neededBy: string[];
      load: {
        set: string;
        id: string;
        slots: number;
        bound: boolean;
      }[];
      moreJobs: number;
      /**
       * ours or not ours, and why; absent: it is gone, or a past plan was asked for.
       */
      ownership?: string;
      /**
       * That count for it now; absent: it is gone, or a past plan was asked for.
       */
      timeouts?: {
        idleSeconds: number;
        bootSeconds: number;
      };
      /**
       * What its scheduler says of it now: it counts in place of what is computed.
       */
      reported?: {
        resources: {
          [k: string]: string | number | boolean | null;
        };
        available: {
          [k: string]: string | number | boolean | null;
        };
      };
      /**
       * Its life so far, or until it went. Absent: a past plan was asked for.
       */
      history?: {
        nodeId: string;
        name: string;
        hostname?: string;
        instanceId?: string;
        array: string;
        /**
         * A node array, a dynamic one, or a grouped one: "execute:64".
         */
        countsFor: string;
        machineType?: string;
        placementGroup?: string;
        spot?: true;
        /**
         * Another tool: no create of ours is known to have made it.
         */
        madeBy: "us" | "another tool";
        phase:
          | ("coming" | "ready" | "failed" | "going" | "off" | "deallocated" | "down" | "missing" | "unknown")
          | "gone";
        /**
         * When the plan was made that asked for it. Absent: another tool did, or it is not known.
         */
        askedAt?: string;
        askedByPlan?: number;
        /**
         * The first observation that showed it.
         */
        firstSeenAt: string;
        /**
         * Absent: it never was Ready, or is deallocated.
         */
        firstReadyAt?: string;
        /**
         * Absent: no plan needed it, or it is not known.
         */
        firstNeededAt?: string;
        /**
         * The first few request sets whose demand was put on it then.
         */
        requestSets: string[];
        /**
         * To within the idle timeout: not each plan that needs it is noted.
         */
        lastNeededAt?: string;
        /**
         * It was Ready, and no demand needed it any more. Absent: needed, or not known.
         */
        notNeededSince?: string;
        /**
         * Why it was told to stop. Absent: the app did not.
         */
        draining?: string;
        /**
         * A moment, ISO 8601 in UTC.
         */
        drainingSince?: string;
        drainingByPlan?: number;
        /**
         * When CycleCloud accepted its stop.
         */
        stopAcceptedAt?: string;
        /**
         * The first observation that lacked it. Absent: it is there.
         */
        goneAt?: string;
        /**
         * Why it went, as far as the app knows. Absent: it is there.
         */
        why?: string;
        /**
         * From its first observation until it went, or now.
         */
        hours: number;
        /**
         * Of these, those without a VM. Absent: it never was deallocated.
         */
        hoursDeallocated?: number;
        /**
         * With a VM, by the configuration's prices. Absent: not known.
         */
        pricePerHour?: number;
        /**
         * Of its disks, by `prices.deallocated`. Absent: not known, or it never was deallocated.
         */
        pricePerHourDeallocated?: number;
        /**
         * Of all hours; while it was deallocated that of its disks, or nothing if it is not known.
         */
        cost?: number;
        currency?: string;
      };
    }
  | {
      cluster: string;
      plan: number;
      /**
       * A moment, ISO 8601 in UTC.
       */
      planAt: string;
      /**
       * observe: the plan does nothing, and only shows what it would do.
       */
      mode: "observe" | "act";
      /**
       * Node arrays that are only observed; absent: none, or mode says it of all.
       */
      observed?: string[];
      /**
       * What of the cluster is only observed, as "observing only: nothing is created or stopped". Absent: nothing.
       */
      observing?: string;
      /**
       * Of all of a past plan.
       */
      counts?: {
        created: number;
        started: number;
        terminated: number;
        nodes: number;
        demands: number;
        unmet: number;
        /**
         * What the new and started nodes come to, a lower bound of that for every plan that serves as much, and the difference. Absent: there are none, or prices are unknown.
         */
        bound?: {
          unit: "nodes" | "price";
          amount: number;
          least: number;
          gap: number;
          text: string;
        };
      };
      /**
       * All of it in sentences, a line each.
       */
      text: string;
      kind: "host";
      hostname: string;
      requestSets: string[];
      /**
       * Absent: it is not reported any more.
       */
      standing?: "capacity" | "closed" | "former-node" | "named-as-a-node" | "load-unknown";
      resources: {
        [k: string]: string | number | boolean | null;
      };
      available: {
        [k: string]: string | number | boolean | null;
      };
      jobs: string[];
      load: {
        set: string;
        id: string;
        slots: number;
        bound: boolean;
      }[];
      moreJobs: number;
    };

/**
 * An error, by RFC 9457. `problems` has everything that is wrong with the request.
 *
 */
export interface Problem {
  type: "about:blank";
  title: string;
  status: number;
  detail: string;
  problems?: ProblemItem[];
  /**
   * App settings that have problems.
   */
  settings?: {
    setting: string;
    expected: string;
  }[];
  /**
   * The newer revision of the request set that is held.
   */
  held?: number;
  /**
   * Kept plans with numbers near the one that was asked for.
   */
  near?: number[];
  /**
   * Known names that are similar to an unknown one.
   */
  nearest?: string[];
  /**
   * Why the job could not be read.
   */
  jobProblems?: ProblemItem[];
  /**
   * To a node's question: it is not stopped.
   */
  stop?: false;
  /**
   * To a node's question: whether the node may take work again.
   */
  undrain?: boolean;
  /**
   * To a node's question: a stop of the node is under way, or the question is still being decided. It stays closed until it hears something else, for 20 minutes at most.
   */
  stopUnderWay?: true;
  [k: string]: unknown;
}
/**
 * One thing that is wrong with an input.
 *
 */
export interface ProblemItem {
  /**
   * Where in the input; empty: all of it.
   */
  path: string;
  found: string;
  expected: string;
  didYouMean?: string;
}
export interface RejectedJob {
  name: string;
  problems: ProblemItem[];
}
/**
 * The demand is stored; achieving it is under way.
 *
 */
export interface Acknowledgement {
  cluster: string;
  requestSet: string;
  revision: number;
  /**
   * A moment, ISO 8601 in UTC.
   */
  expiresAt: string;
  /**
   * False: a mere renewal, or a report alone.
   */
  changed: boolean;
  /**
   * The parts of the message that are in force now.
   */
  taken: ("demand" | "schedulerNodes" | "pools")[];
  /**
   * Its other parts: a newer revision of each is held.
   */
  older: ("demand" | "schedulerNodes" | "pools")[];
  /**
   * How much was accepted; slots are those of all jobs. Absent: the message left the demand as it is.
   */
  asks?: {
    nodearrays: number;
    jobs: number;
    slots: number;
  };
  rejectedJobs: RejectedJob[];
  /**
   * How many more jobs could not be read: only the first ones are listed. Absent: none.
   */
  moreRejectedJobs?: number;
  /**
   * What is accepted, and may not be meant: jobs that ask for no amount, a cut interval, an unknown node array, and the like.
   */
  notes: string[];
  /**
   * What of the cluster is only observed, as "observing only: nothing is created or stopped". Absent: nothing.
   */
  observing?: string;
}
export interface RequestSetState {
  requestSet: string;
  state: "live" | "empty" | "lapsed";
  revision: number;
  expirationInterval: number;
  /**
   * A moment, ISO 8601 in UTC.
   */
  acceptedAt: string;
  /**
   * A moment, ISO 8601 in UTC.
   */
  expiresAt: string;
  expiresInSeconds: number;
  demands: number;
  /**
   * Why plans do not read this set. Absent: they do. Demand that a plan read and left out is in `troubles`.
   */
  leftOut?: string;
  reportsHosts: boolean;
  rejectedJobs: RejectedJob[];
  /**
   * How many more jobs could not be read: only the first ones are listed. Absent: none.
   */
  moreRejectedJobs?: number;
  /**
   * It came without demand, at least as new as the demand that is held.
   */
  report?: {
    live: boolean;
    revision: number;
    expirationInterval: number;
    /**
     * A moment, ISO 8601 in UTC.
     */
    acceptedAt: string;
    /**
     * A moment, ISO 8601 in UTC.
     */
    expiresAt: string;
    expiresInSeconds: number;
  };
  /**
   * It came without demand, at least as new as the demand that is held.
   */
  pools?: {
    live: boolean;
    revision: number;
    expirationInterval: number;
    /**
     * A moment, ISO 8601 in UTC.
     */
    acceptedAt: string;
    /**
     * A moment, ISO 8601 in UTC.
     */
    expiresAt: string;
    expiresInSeconds: number;
  };
  /**
   * A plan has taken this demand into account.
   */
  observed: boolean;
  /**
   * When the last node that it waits for can be expected, by the boot times seen.
   */
  expectedReadyAt?: string;
  /**
   * If it waits for nodes: what the plan of the cluster would do in node arrays that are only observed.
   */
  withheld?: {
    creates: {
      bucket: string;
      count: number;
      countsFor: string;
    }[];
    starts: string[];
    terminates: string[];
  };
  outcomes: {
    set: string;
    id: string;
    kind: "target" | "groups" | "job";
    unit: "nodes" | "cores" | "groups" | "slots";
    asked: number;
    placed: number;
    pending: number;
    reasons: string[];
    moreReasons?: number;
    binding?: string;
    /**
     * What the job's driver noted of it.
     */
    metadata?: {
      [k: string]: unknown;
    };
  }[];
  /**
   * What became of each name. Absent: the set names no nodes.
   */
  names?: {
    name: string;
    array: string;
    state: "coming" | "ready" | "refused" | "failed";
    reason?: string;
    /**
     * When a refusal or failure was decided, else since when the name is wanted. Absent: no plan has seen it.
     */
    from?: string;
    /**
     * The moment of the resume that this answers, as the sender said it. Absent: none was said.
     */
    since?: number;
    /**
     * What kind of thing `reason` is. Absent: it is none that keeps the name from its node.
     */
    cause?:
      | "limit"
      | "quota"
      | "cap"
      | "pause"
      | "array"
      | "request"
      | "cluster"
      | "refused"
      | "failed"
      | "old-node"
      | "earlier"
      | "elsewhere"
      | "plan";
    /**
     * For whom the cause holds: everyone who could use this node array, size and placement group, or this name alone. Absent: neither is known, as for the cap of another request set.
     */
    holdsFor?: "everyone" | "name";
    /**
     * How many more nodes of its node array, size and placement group the set can have now. Absent: the cause does not hold for everyone, or no plan has seen the demand as it is now.
     */
    room?: number;
    /**
     * There is no room because of pauses: when the first of them ends. Absent: no end is known.
     */
    until?: string;
    /**
     * Its node was Ready before the resume that the name waits for. It goes once its scheduler reports it closed without a job.
     */
    earlier?: true;
    nodeId?: string;
    /**
     * The autoscaler did not make the node, and does not stop it. Absent: it is ours, or there is none.
     */
    ours?: false;
  }[];
  /**
   * What of the cluster is only observed, as "observing only: nothing is created or stopped". Absent: nothing.
   */
  observing?: string;
  /**
   * Lists of which this answer shows a part, by the path of their member: `shown` items after the first `from`, of `count` in all. Absent: all lists are complete.
   */
  pages?: {
    list: string;
    from: number;
    shown: number;
    count: number;
  }[];
  /**
   * The same request with this as the parameter `page` shows what comes after in each list. Absent: nothing does.
   */
  next?: string;
}
export interface Clusters {
  /**
   * The release that answers.
   */
  version: string;
  /**
   * The app's clock.
   */
  time: string;
  /**
   * When the timer last ran. Absent: it has never run.
   */
  timerAt?: string;
  clusters: {
    cluster: string;
    health: ClusterHealth;
    /**
     * The last wake message with an id that came through the queue. Absent: none did.
     */
    lastWake?: {
      id: string;
      /**
       * A moment, ISO 8601 in UTC.
       */
      at: string;
    };
  }[];
  /**
   * Messages that failed too often, in demand-poison: the timer handles them.
   */
  poisonMessages: {
    count: number;
    /**
     * Absent: there is none, or it is being handled.
     */
    oldestAgeSeconds?: number;
  };
  rejectedMessages: RejectedMessages;
}
export interface ClusterHealth {
  ok: boolean;
  /**
   * Not ok, because the cluster is new here and was not observed yet: ask again.
   */
  starting?: true;
  /**
   * Nothing acts. Absent: something does.
   */
  observing?: true;
  /**
   * Why it is not ok, and what keeps the autoscaler from acting although it is.
   */
  notes: string[];
  /**
   * What costs money or needs attention, although all works.
   */
  warnings: string[];
  lastLookAgeSeconds?: number;
  trouble?: {
    /**
     * A moment, ISO 8601 in UTC.
     */
    at: string;
    kind: string;
    message: string;
  };
  /**
   * A moment, ISO 8601 in UTC.
   */
  restingUntil?: string;
  /**
   * Request sets whose next message ends the rest.
   */
  awaiting?: string[];
  clusterState?: string;
}
export interface RejectedMessages {
  count: number;
  /**
   * Absent: there is none, or it is being handled.
   */
  oldestAgeSeconds?: number;
  oldest: {
    messageId: string;
    /**
     * A moment, ISO 8601 in UTC.
     */
    rejectedAt: string;
    cluster?: string;
    set?: string;
    problems: ProblemItem[];
    text: string;
  }[];
}
export interface Cluster {
  cluster: string;
  /**
   * What of the cluster is only observed, as "observing only: nothing is created or stopped". Absent: nothing.
   */
  observing?: string;
  /**
   * A moment, ISO 8601 in UTC.
   */
  now: string;
  health: ClusterHealth;
  /**
   * What is asked for and not there, and why: the most frequent cause first.
   */
  waiting: {
    unmet: number;
    missing: {
      unit: "nodes" | "cores" | "groups" | "slots";
      amount: number;
    }[];
    /**
     * Demands whose place is on nodes that are still to come up.
     */
    onTheirWay: number;
    reasons: {
      text: string;
      demands: number;
      first: {
        requestSet: string;
        id: string;
      };
    }[];
    remedies: {
      text: string;
      demands: number;
      first: {
        requestSet: string;
        id: string;
      };
    }[];
  };
  troubles: {
    kind:
      | "health"
      | "backing-off"
      | "node-failed"
      | "node-down"
      | "down-wave"
      | "down-busy"
      | "down-kept"
      | "node-missing"
      | "node-unclear"
      | "nodes-removed"
      | "nodes-not-needed"
      | "nodes-not-ours"
      | "nodes-unhealthy"
      | "node-token"
      | "claims-ended"
      | "stop-key-missing"
      | "start-refused"
      | "shutdown-policy"
      | "nodearray-missing"
      | "revision-ahead"
      | "insecure"
      | "configuration"
      | "left-out"
      | "job-rejected"
      | "message-rejected";
    text: string;
    count: number;
  }[];
  /**
   * How new nodes are chosen, by the configuration.
   */
  choice: {
    preference: "existing-first" | "bucket-order";
    among: "priority" | "cheapest";
    caps?: {
      requestSets: {
        [k: string]: {
          nodes?: number;
          cores?: number;
        };
      };
      users: {
        [k: string]: {
          nodes?: number;
          cores?: number;
        };
      };
    };
    prices?: {
      currency: string;
      locations: string[];
    };
  };
  demandCounts: {
    live: number;
    empty: number;
    lapsed: number;
  };
  demand: {
    requestSet: string;
    state: "live" | "empty" | "lapsed";
    revision: number;
    expirationInterval: number;
    /**
     * A moment, ISO 8601 in UTC.
     */
    acceptedAt: string;
    /**
     * A moment, ISO 8601 in UTC.
     */
    expiresAt: string;
    expiresInSeconds: number;
    demands: number;
    /**
     * Why plans do not read this set. Absent: they do. Demand that a plan read and left out is in `troubles`.
     */
    leftOut?: string;
    reportsHosts: boolean;
    rejectedJobs: RejectedJob[];
    /**
     * How many more jobs could not be read: only the first ones are listed. Absent: none.
     */
    moreRejectedJobs?: number;
    /**
     * It came without demand, at least as new as the demand that is held.
     */
    report?: {
      live: boolean;
      revision: number;
      expirationInterval: number;
      /**
       * A moment, ISO 8601 in UTC.
       */
      acceptedAt: string;
      /**
       * A moment, ISO 8601 in UTC.
       */
      expiresAt: string;
      expiresInSeconds: number;
    };
    /**
     * It came without demand, at least as new as the demand that is held.
     */
    pools?: {
      live: boolean;
      revision: number;
      expirationInterval: number;
      /**
       * A moment, ISO 8601 in UTC.
       */
      acceptedAt: string;
      /**
       * A moment, ISO 8601 in UTC.
       */
      expiresAt: string;
      expiresInSeconds: number;
    };
    unmet: number;
  }[];
  /**
   * The last plan; absent: none was made yet.
   */
  plan?: {
    number: number;
    /**
     * A moment, ISO 8601 in UTC.
     */
    at: string;
    /**
     * observe: the plan does nothing, and only shows what it would do.
     */
    mode: "observe" | "act";
    /**
     * Node arrays that are only observed; absent: none, or mode says it of all.
     */
    observed?: string[];
    creates: {
      bucket: string;
      count: number;
      countsFor: string;
    }[];
    starts: string[];
    terminates: string[];
    /**
     * What the plan would do in node arrays that are only observed. terminates: also nodes that it would check once more first.
     */
    withheld?: {
      creates: {
        bucket: string;
        count: number;
        countsFor: string;
      }[];
      starts: string[];
      terminates: string[];
    };
    /**
     * What the virtual fleet of the observed node arrays did with this plan: nodes that only the record has. Absent: no array is observed.
     */
    virtual?: {
      creates: {
        bucket: string;
        count: number;
        countsFor: string;
      }[];
      starts: string[];
      terminates: string[];
    };
    /**
     * What the new and started nodes come to, a lower bound of that for every plan that serves as much, and the difference. Absent: there are none, or prices are unknown.
     */
    bound?: {
      unit: "nodes" | "price";
      amount: number;
      least: number;
      gap: number;
      text: string;
    };
    demands: number;
    waitingForNodes: number;
    unmet: {
      requestSet: string;
      id: string;
      kind: "target" | "groups" | "job";
      asked: number;
      placed: number;
      unit: "nodes" | "cores" | "groups" | "slots";
      reasons: string[];
      moreReasons?: number;
      binding?: string;
    }[];
    unmetCount: number;
  };
  nodes: {
    count: number;
    byPhase: {
      [k: string]: number;
    };
    byVerdict: {
      [k: string]: number;
    };
    /**
     * The first since when. The price is that of their disks; absent: not configured.
     */
    deallocated?: {
      count: number;
      /**
       * A moment, ISO 8601 in UTC.
       */
      since: string;
      pricePerHour?: number;
      currency?: string;
    };
    /**
     * Nodes that a scheduler keeps (`keep` in a report): they are not stopped. The price is of those that have one; absent: none has.
     */
    kept?: {
      count: number;
      pricePerHour?: number;
      currency?: string;
    };
    list: {
      name: string;
      nodeId: string;
      array: string;
      machineType: string;
      placementGroup?: string;
      phase: "coming" | "ready" | "failed" | "going" | "off" | "deallocated" | "down" | "missing" | "unknown";
      status: string;
      statusMessage?: string;
      hostname?: string;
      instanceId?: string;
      purpose: string;
      /**
       * The array that it counts for: one of the template, a dynamic one, or a grouped one.
       */
      countsFor: string;
      /**
       * Another tool: no create of ours is known to have made it.
       */
      madeBy: "us" | "another tool";
      /**
       * ours or not ours, and why. Nodes that are not ours are never started or stopped.
       */
      ownership: string;
      /**
       * Why the group that it was made for does not count on it any more.
       */
      released?: string;
      /**
       * A moment, ISO 8601 in UTC.
       */
      firstSeenAt: string;
      /**
       * A moment, ISO 8601 in UTC.
       */
      firstReadyAt?: string;
      /**
       * When an observation first showed it no longer up, after it was Ready.
       */
      leftReadyAt?: string;
      /**
       * A moment, ISO 8601 in UTC.
       */
      deallocatedSince?: string;
      /**
       * Shown as shut down (Off or Terminated) since then, though it was Ready and is wanted.
       */
      downSince?: string;
      /**
       * It is down or deallocated, and ends then, or later if `why` says so.
       */
      endsAt?: string;
      /**
       * Of a node that is coming, by the boot times seen; past: it takes longer than others did.
       */
      expectedReadyAt?: string;
      /**
       * A moment, ISO 8601 in UTC.
       */
      lastNeededAt?: string;
      busyness: "busy" | "idle" | "unknown";
      /**
       * A moment, ISO 8601 in UTC.
       */
      busynessSince: string;
      start?: "unsure" | "accepted" | "shown" | "refused";
      /**
       * A moment, ISO 8601 in UTC.
       */
      startSince?: string;
      /**
       * The id of the key of its stop URL. Absent: not known, or it has none of ours.
       */
      stopKey?: string;
      /**
       * Its calls must carry the token that the node has chosen.
       */
      ownToken?: true;
      /**
       * It calls itself unhealthy, and is not stopped: a job is on it, or too many others went.
       */
      unhealthySince?: string;
      draining?: string;
      /**
       * A moment, ISO 8601 in UTC.
       */
      drainingSince?: string;
      /**
       * The kind of `why`: "needed", "idle", "busyness-unknown", ...
       */
      verdict: string;
      /**
       * Why it stays or is stopped.
       */
      why: string;
    }[];
  };
  /**
   * How many live nodes that the autoscaler made carry a stop URL of which key.
   */
  stopKeys: {
    /**
     * Absent: nodes of which it is not known, or that have no stop URL of ours.
     */
    keyId?: string;
    nodes: number;
    /**
     * AUTOSCALER_AUTOSTOP_KEYS has it: the calls of these nodes are answered.
     */
    configured?: boolean;
    /**
     * New nodes get it.
     */
    signing?: true;
  }[];
  /**
   * Hosts that schedulers report with resources and that are no nodes of the cluster.
   */
  schedulerHosts: {
    count: number;
    /**
     * Of these, the hosts that take jobs of the request sets that report them.
     */
    capacity: number;
    list: {
      hostname: string;
      requestSets: string[];
      standing: "capacity" | "closed" | "former-node" | "named-as-a-node" | "load-unknown";
      resources: {
        [k: string]: string | number | boolean | null;
      };
      available: {
        [k: string]: string | number | boolean | null;
      };
      jobs: string[];
      moreJobs: number;
      /**
       * Whether it is capacity, and if not, why.
       */
      why: string;
    }[];
  };
  nodearrays: (
    | {
        name: string;
        managed: boolean;
        spot: boolean;
        limit: {
          count?: number;
          cores?: number;
        };
        /**
         * observe: the array is only observed. Absent: an older app answers.
         */
        mode?: "observe" | "act";
        /**
         * Of its nodes, by the configuration. Seconds.
         */
        idleTimeout: number;
        /**
         * Of its nodes, by the configuration. Seconds.
         */
        bootTimeout: number;
        /**
         * The largest target of any set in nodes, and in cores: two floors.
         */
        target: {
          nodes: number;
          cores: number;
        };
        askedBy: string[];
        moreSets?: number;
        targets: {
          requestSet: string;
          id: string;
          unit: "nodes" | "cores" | "groups" | "slots";
          asked: number;
          placed: number;
        }[];
        nodes: {
          [k: string]: number;
        };
        /**
         * All of them but those that are off.
         */
        count: number;
        inFlight: number;
        neededBy: {
          requestSet: string;
          nodes: number;
        }[];
        notNeeded: number;
        /**
         * Its nodes that were made with other attributes than it is asked for with now: the first ones by name. Absent: none.
         */
        oldNodes?: string[];
        moreOldNodes?: number;
        buckets: {
          machineType: string;
          vcpus: number;
          active: number;
          available: number;
          max?: number;
          invalid?: string;
        }[];
      }
    | {
        name: string;
        dynamic: true;
        exists: boolean;
        extends?: string;
        flaggedForRemoval: boolean;
        /**
         * observe: the array is only observed. Absent: an older app answers.
         */
        mode?: "observe" | "act";
        /**
         * Of its nodes, by the configuration. Seconds.
         */
        idleTimeout: number;
        /**
         * Of its nodes, by the configuration. Seconds.
         */
        bootTimeout: number;
        /**
         * The largest target of any set in nodes, and in cores: two floors.
         */
        target: {
          nodes: number;
          cores: number;
        };
        askedBy: string[];
        moreSets?: number;
        targets: {
          requestSet: string;
          id: string;
          unit: "nodes" | "cores" | "groups" | "slots";
          asked: number;
          placed: number;
        }[];
        nodes: {
          [k: string]: number;
        };
        /**
         * All of them but those that are off.
         */
        count: number;
        inFlight: number;
        neededBy: {
          requestSet: string;
          nodes: number;
        }[];
        notNeeded: number;
        /**
         * Its nodes that were made with other attributes than it is asked for with now: the first ones by name. Absent: none.
         */
        oldNodes?: string[];
        moreOldNodes?: number;
        /**
         * Why it cannot come to be, or grow.
         */
        problem?: string;
      }
  )[];
  /**
   * Items: The generated array of a grouped request: "execute:64" for cores, "execute:16n" for nodes.
   */
  groups: {
    name: string;
    extends: string;
    /**
     * Of its nodes, by the configuration. Seconds.
     */
    idleTimeout: number;
    /**
     * Of its nodes, by the configuration. Seconds.
     */
    bootTimeout: number;
    requestSets: string[];
    groupsWanted: number;
    groupsWhole: number;
    nodes: number;
    nodesReady: number;
    ungrouped?: string;
    groups: {
      id?: string;
      bucket: string;
      machineType: string;
      state: "whole" | "filling" | "given-up" | "spare";
      nodesWanted: number;
      nodesAskedFor: number;
      nodes: number;
      nodesReady: number;
      /**
       * A moment, ISO 8601 in UTC.
       */
      since?: string;
      /**
       * A moment, ISO 8601 in UTC.
       */
      givenUpAt?: string;
      why: string;
    }[];
  }[];
  /**
   * Items: A place where nodes are made, with all that bounds a new node there; a row of a placement group shows the group's own limit.
   */
  buckets: {
    nodearray: string;
    machineType: string;
    placementGroup?: string;
    valid: boolean;
    invalidReason?: string;
    spot: boolean;
    vcpus: number;
    memoryGib: number;
    gpus: number;
    price?: number;
    active: number;
    available: number;
    closed?: string;
    limits: {
      /**
       * In words: "family quota standardHBv3Family".
       */
      limit: string;
      kind: string;
      name: string;
      /**
       * Of a family quota: no table knows the VM size, so its family is guessed from its name.
       */
      guessed?: true;
      unit: "nodes" | "cores";
      used: number;
      max: number;
      left: number;
    }[];
    backoff?: {
      /**
       * A moment, ISO 8601 in UTC.
       */
      until: string;
      seconds: number;
      cause: "refused" | "fell-short" | "boot-failed" | "unhealthy" | "went-down";
      message: string;
    };
    lastCapacityFailureSeconds?: number;
  }[];
  /**
   * Items: What became of one demand; those that lack something come first.
   */
  outcomes: {
    requestSet: string;
    id: string;
    kind: "target" | "groups" | "job";
    /**
     * Of a job, as its sender names it.
     */
    user?: string;
    unit: "nodes" | "cores" | "groups" | "slots";
    asked: number;
    placed: number;
    /**
     * Of placed, what waits for nodes that are coming.
     */
    pending: number;
    /**
     * The reason that binds, where it has less than it asked for.
     */
    why?: string;
  }[];
  totals: {
    created: number;
    terminated: number;
    started?: number;
  };
  inFlight: {
    requestId: string;
    bucket: string;
    countsFor: string;
    added: number;
    stillToShow: number;
    /**
     * A moment, ISO 8601 in UTC.
     */
    since: string;
  }[];
  intents: {
    id: string;
    effect: "create" | "start" | "terminate" | "deallocate";
    bucket?: string;
    count?: number;
    countsFor?: string;
    nodes?: string[];
    /**
     * A moment, ISO 8601 in UTC.
     */
    committedAt: string;
    sent: "never" | "maybe" | "once-refused";
  }[];
  backoffs: {
    bucket: string;
    dynamicArray?: string;
    /**
     * A moment, ISO 8601 in UTC.
     */
    until: string;
    cause: "refused" | "fell-short" | "boot-failed" | "unhealthy" | "went-down";
    message: string;
  }[];
  alone?: {
    bucket: string;
    dynamicArray?: string;
  }[];
  rejections: {
    /**
     * A moment, ISO 8601 in UTC.
     */
    at: string;
    messageId: string;
    set?: string;
    problems: ProblemItem[];
  }[];
  generation: number;
  observedGeneration: number;
  /**
   * A moment, ISO 8601 in UTC.
   */
  nextLookAt?: string;
  /**
   * Lists of which this answer shows a part, by the path of their member: `shown` items after the first `from`, of `count` in all. Absent: all lists are complete.
   */
  pages?: {
    list: string;
    from: number;
    shown: number;
    count: number;
  }[];
  /**
   * The same request with this as the parameter `page` shows what comes after in each list. Absent: nothing does.
   */
  next?: string;
}
export interface History {
  cluster: string;
  /**
   * What of the cluster is only observed, as "observing only: nothing is created or stopped". Absent: nothing.
   */
  observing?: string;
  rows: {
    /**
     * A moment, ISO 8601 in UTC.
     */
    at: string;
    plan: number;
    nodes: {
      [k: string]: number;
    };
    inFlight: number;
    liveSets: number;
    created: number;
    terminated: number;
    started?: number;
    unmet: number;
    /**
     * The last plan only showed what it would do. Absent: it acted, or an older release made the row.
     */
    mode?: "observe";
    /**
     * Nodes that the last plan would create, start and stop in node arrays that are only observed.
     */
    withheld?: {
      create: number;
      start: number;
      stop: number;
    };
    trouble?: string;
    /**
     * Ready nodes that no demand needs and that are not known to be busy.
     */
    idle?: number;
    /**
     * Of all nodes whose price is known.
     */
    pricePerHour?: number;
    idlePricePerHour?: number;
    currency?: string;
    unpricedNodes?: number;
    /**
     * The node arrays that have nodes, also dynamic and grouped ones, those with most nodes first. Absent: none, or an older release made the row.
     */
    arrays?: {
      /**
       * Absent: all others together.
       */
      name?: string;
      /**
       * With a VM.
       */
      nodes: number;
      idle: number;
      pricePerHour?: number;
      idlePricePerHour?: number;
    }[];
    /**
     * Seconds per call of CycleCloud's endpoints, of those that take a second or more.
     */
    callSeconds?: {
      [k: string]: number;
    };
  }[];
  /**
   * Plans of that time that changed something and can be explained.
   */
  keptPlans: number[];
  /**
   * Their counts.
   */
  planCounts: {
    created: number;
    started: number;
    terminated: number;
    nodes: number;
    demands: number;
    unmet: number;
    /**
     * What the new and started nodes come to, a lower bound of that for every plan that serves as much, and the difference. Absent: there are none, or prices are unknown.
     */
    bound?: {
      unit: "nodes" | "price";
      amount: number;
      least: number;
      gap: number;
      text: string;
    };
    plan: number;
    /**
     * A moment, ISO 8601 in UTC.
     */
    at: string;
  }[];
  /**
   * There are older rows than the answer holds: ask again with this as the parameter `to`.
   */
  next?: string;
}
export interface NodeHistory {
  cluster: string;
  /**
   * What of the cluster is only observed, as "observing only: nothing is created or stopped". Absent: nothing.
   */
  observing?: string;
  rows: {
    nodeId: string;
    name: string;
    hostname?: string;
    instanceId?: string;
    array: string;
    /**
     * A node array, a dynamic one, or a grouped one: "execute:64".
     */
    countsFor: string;
    machineType?: string;
    placementGroup?: string;
    spot?: true;
    /**
     * Another tool: no create of ours is known to have made it.
     */
    madeBy: "us" | "another tool";
    phase:
      | ("coming" | "ready" | "failed" | "going" | "off" | "deallocated" | "down" | "missing" | "unknown")
      | "gone";
    /**
     * When the plan was made that asked for it. Absent: another tool did, or it is not known.
     */
    askedAt?: string;
    askedByPlan?: number;
    /**
     * The first observation that showed it.
     */
    firstSeenAt: string;
    /**
     * Absent: it never was Ready, or is deallocated.
     */
    firstReadyAt?: string;
    /**
     * Absent: no plan needed it, or it is not known.
     */
    firstNeededAt?: string;
    /**
     * The first few request sets whose demand was put on it then.
     */
    requestSets: string[];
    /**
     * To within the idle timeout: not each plan that needs it is noted.
     */
    lastNeededAt?: string;
    /**
     * It was Ready, and no demand needed it any more. Absent: needed, or not known.
     */
    notNeededSince?: string;
    /**
     * Why it was told to stop. Absent: the app did not.
     */
    draining?: string;
    /**
     * A moment, ISO 8601 in UTC.
     */
    drainingSince?: string;
    drainingByPlan?: number;
    /**
     * When CycleCloud accepted its stop.
     */
    stopAcceptedAt?: string;
    /**
     * The first observation that lacked it. Absent: it is there.
     */
    goneAt?: string;
    /**
     * Why it went, as far as the app knows. Absent: it is there.
     */
    why?: string;
    /**
     * From its first observation until it went, or now.
     */
    hours: number;
    /**
     * Of these, those without a VM. Absent: it never was deallocated.
     */
    hoursDeallocated?: number;
    /**
     * With a VM, by the configuration's prices. Absent: not known.
     */
    pricePerHour?: number;
    /**
     * Of its disks, by `prices.deallocated`. Absent: not known, or it never was deallocated.
     */
    pricePerHourDeallocated?: number;
    /**
     * Of all hours; while it was deallocated that of its disks, or nothing if it is not known.
     */
    cost?: number;
    currency?: string;
  }[];
  /**
   * There are more nodes than the answer holds: ask again with this as the parameter `page`.
   */
  next?: string;
}
export interface Comparison {
  cluster: string;
  /**
   * The node arrays that are in mode observe now.
   */
  observing: {
    nodearray: string;
    /**
     * A moment, ISO 8601 in UTC.
     */
    since: string;
    virtualNodes: number;
  }[];
  /**
   * The newest first.
   */
  days: {
    /**
     * In UTC.
     */
    day: string;
    currency?: string;
    /**
     * How long jobs waited for capacity, all together; absent: no set has jobs.
     */
    waitingJobHours?: {
      real: number;
      virtual: number;
    };
    nodearrays: {
      nodearray: string;
      observedHours: number;
      real: {
        peakNodes: number;
        meanNodes: number;
        /**
         * Of nodes that have a VM, or get one.
         */
        nodeHours: number;
        /**
         * Of these: up, with no job on the node and no demand that needs it.
         */
        idleNodeHours: number;
        boots: number;
        /**
         * By the configured prices; absent: there are none.
         */
        cost?: number;
        /**
         * Their price is not known, and not in the cost.
         */
        unpricedNodeHours?: number;
      };
      virtual: {
        peakNodes: number;
        meanNodes: number;
        /**
         * Of nodes that have a VM, or get one.
         */
        nodeHours: number;
        /**
         * Of these: up, with no job on the node and no demand that needs it.
         */
        idleNodeHours: number;
        boots: number;
        /**
         * By the configured prices; absent: there are none.
         */
        cost?: number;
        /**
         * Their price is not known, and not in the cost.
         */
        unpricedNodeHours?: number;
      };
      /**
       * The largest first.
       */
      differences: {
        /**
         * idle: real nodes beyond the virtual ones that were idle. more: the same, booting or at work. fewer: virtual nodes beyond the real ones.
         */
        kind: "idle" | "more" | "fewer";
        /**
         * A moment, ISO 8601 in UTC.
         */
        since: string;
        /**
         * A moment, ISO 8601 in UTC.
         */
        until: string;
        hours: number;
        /**
         * The most at a time.
         */
        nodes: number;
        nodeHours: number;
        /**
         * When the virtual nodes were stopped.
         */
        stoppedAt?: string;
        /**
         * The first few that need the virtual nodes.
         */
        requestSets?: string[];
        /**
         * All of it in a sentence.
         */
        text: string;
      }[];
    }[];
  }[];
  /**
   * There are older days than the answer holds: ask again with this as the parameter `until`.
   */
  next?: string;
}
/**
 * What would be planned with the changed inputs. Nothing was changed.
 *
 */
export interface DryRun {
  cluster: string;
  /**
   * The observation that both plans use.
   */
  lookedAt: string;
  /**
   * Of prices; absent: there are none.
   */
  currency?: string;
  /**
   * False: the mode is observe, or the cluster is not started. In observe mode the plan is what would be done.
   */
  acting: boolean;
  /**
   * observe: the plan does nothing, and only shows what it would do.
   */
  mode: "observe" | "act";
  /**
   * Node arrays that are only observed; absent: none, or mode says it of all.
   */
  observed?: string[];
  /**
   * What of the cluster is only observed, as "observing only: nothing is created or stopped". Absent: nothing.
   */
  observing?: string;
  plan: {
    nodesCreated: number;
    nodesStarted: number;
    demands: number;
    unmet: number;
    /**
     * Of the nodes created; absent: not known.
     */
    pricePerHour?: number;
    /**
     * What the new and started nodes come to, a lower bound of that for every plan that serves as much, and the difference. Absent: there are none, or prices are unknown.
     */
    bound?: {
      unit: "nodes" | "price";
      amount: number;
      least: number;
      gap: number;
      text: string;
    };
    creates: {
      nodearray: string;
      machineType: string;
      placementGroup?: string;
      count: number;
    }[];
    starts: string[];
    terminates: string[];
    outcomes: {
      id: string;
      kind: "target" | "groups" | "job";
      unit: "nodes" | "cores" | "groups" | "slots";
      asked: number;
      placed: number;
      pending: number;
      reasons: string[];
      moreReasons?: number;
      binding?: string;
      requestSet: string;
      unmet: number;
    }[];
  };
  /**
   * The plan without the changes.
   */
  without: {
    nodesCreated: number;
    nodesStarted: number;
    demands: number;
    unmet: number;
    /**
     * Of the nodes created; absent: not known.
     */
    pricePerHour?: number;
    /**
     * What the new and started nodes come to, a lower bound of that for every plan that serves as much, and the difference. Absent: there are none, or prices are unknown.
     */
    bound?: {
      unit: "nodes" | "price";
      amount: number;
      least: number;
      gap: number;
      text: string;
    };
  };
  difference: {
    nodesCreated: number;
    pricePerHour?: number;
    creates: {
      nodearray: string;
      machineType: string;
      placementGroup?: string;
      count: number;
    }[];
    started: string[];
    notStarted: string[];
    demands: {
      requestSet: string;
      id: string;
      unit: "nodes" | "cores" | "groups" | "slots";
      asked: number;
      placed: number;
      askedWithout: number;
      placedWithout: number;
    }[];
    demandCount: number;
  };
  rejectedJobs: {
    requestSet: string;
    jobs: RejectedJob[];
  }[];
}
export interface Tick {
  cluster: string;
  outcome: "planned" | "covered" | "waiting" | "troubled" | "overtaken" | "failed" | "timed-out";
  plan?: number;
  trouble?: {
    kind: string;
    message: string;
  };
  /**
   * A moment, ISO 8601 in UTC.
   */
  until?: string;
  message?: string;
  /**
   * What of the cluster is only observed, as "observing only: nothing is created or stopped". Absent: nothing.
   */
  observing?: string;
}
/**
 * A new epoch has begun.
 *
 */
export interface Restored {
  cluster: string;
  /**
   * Random; ids of requests to CycleCloud are made with it.
   */
  epoch: string;
  /**
   * The next plan has the next number.
   */
  plan: number;
  /**
   * Scale-down rests until then.
   */
  restingUntil: string;
  /**
   * If the cluster has nodes, nothing is created before.
   */
  createsFrom: string;
  /**
   * What of the cluster is only observed, as "observing only: nothing is created or stopped". Absent: nothing.
   */
  observing?: string;
}
/**
 * These nodes end, within the bounds, unless an exception keeps them.
 *
 */
export interface EndDown {
  cluster: string;
  nodearray: string;
  count: number;
  /**
   * Those that the last observation shows as shut down.
   */
  nodes: string[];
  /**
   * The order is in force until then.
   */
  until: string;
  /**
   * What of the cluster is only observed, as "observing only: nothing is created or stopped". Absent: nothing.
   */
  observing?: string;
}
/**
 * A wake message is in the queue.
 *
 */
export interface Wake {
  cluster: string;
  /**
   * Shown as lastWake once it came through.
   */
  id: string;
}
/**
 * A change of single keys. A path joins keys with dots; a key with a dot is quoted: caps.users["anna.smith"].nodes.
 *
 */
export interface ConfigurationPatch {
  /**
   * Values by path. A value replaces what is there, lists whole.
   */
  set?: {
    [k: string]: unknown;
  };
  /**
   * Paths of keys that go away.
   */
  unset?: string[];
  /**
   * The version that was seen: 409 if the same keys have changed since. Absent: the one in force.
   */
  ifVersion?: number;
}
/**
 * The configuration in force, with its defaults.
 *
 */
export interface Configuration {
  /**
   * Where editors find the JSON Schema of this document; kept as it is.
   */
  $schema?: string;
  /**
   * One for all node arrays, or by node array; "default": those that are not named.
   */
  idleTimeout:
    | number
    | {
        [k: string]: number;
      };
  /**
   * One for all node arrays, or by node array; "default": those that are not named.
   */
  bootTimeout:
    | number
    | {
        [k: string]: number;
      };
  /**
   * As the other timeouts; "never": a person decides.
   */
  downTimeout?:
    | (number | "never")
    | {
        [k: string]: number | "never";
      };
  /**
   * As the other timeouts; "never": a person decides.
   */
  failedTimeout?:
    | (number | "never")
    | {
        [k: string]: number | "never";
      };
  /**
   * As the other timeouts; "never": a person decides.
   */
  deallocatedTimeout?:
    | (number | "never")
    | {
        [k: string]: number | "never";
      };
  maxExpirationInterval: number;
  inFlightGrace: number;
  groupFillTimeout: number;
  nodearrays?: string[];
  default_resources?: {
    [k: string]: unknown;
  }[];
  vmSizes?: {
    [k: string]: unknown;
  };
  preference: "existing-first" | "bucket-order";
  among: "priority" | "cheapest";
  /**
   * Whether mixes of VM sizes under shared limits are looked for.
   */
  mixes?: "on" | "off";
  placementGroups?: {
    [k: string]: string[];
  };
  caps?: {
    requestSets?: {
      [k: string]: unknown;
    };
    users?: {
      [k: string]: unknown;
    };
  };
  /**
   * Items: What request sets may do: the first rule that names a set counts for it.
   */
  senders?: {
    requestSets: string | string[];
    write?: boolean;
    maxPriority?: number;
    caps?: {
      [k: string]: unknown;
    };
    share?: number;
    hosts?: boolean;
    pools?: boolean | string[];
    dynamicArrays?: boolean | string[];
    nodeNames?: boolean | string[];
    attributes?: string[];
    /**
     * The only free keys of Configuration, for all node arrays or by node array; "default": those that are not named.
     */
    configuration?:
      | string[]
      | {
          [k: string]: string[];
        };
  }[];
  prices?: {
    currency: string;
    locations: {
      [k: string]: {
        [k: string]: unknown;
      };
    };
    "proxied-locations"?: {
      [k: string]: string;
    };
    /**
     * What the disks of one deallocated node cost per hour.
     */
    deallocated?: number;
  };
  planHistory: number;
  /**
   * Node arrays that no other tool manages; true: all.
   */
  exclusiveNodearrays?: true | string[];
  /**
   * Node arrays in which only targets that name their nodes create any.
   */
  named?: string[];
  mode?:
    | ("observe" | "act")
    | {
        [k: string]: "observe" | "act";
      };
  /**
   * Its number in the history, as in the header ETag.
   */
  version?: number;
  /**
   * Why the stored document cannot be read; what holds instead is shown.
   */
  unreadable?: ProblemItem[];
  /**
   * What counts and is likely a mistake.
   */
  doubts?: ProblemItem[];
  /**
   * What of the cluster is only observed, as "observing only: nothing is created or stopped". Absent: nothing.
   */
  observing?: string;
}
/**
 * The configuration as it was stored.
 *
 */
export interface ConfigurationWritten {
  /**
   * Where editors find the JSON Schema of this document; kept as it is.
   */
  $schema?: string;
  /**
   * One for all node arrays, or by node array; "default": those that are not named.
   */
  idleTimeout:
    | number
    | {
        [k: string]: number;
      };
  /**
   * One for all node arrays, or by node array; "default": those that are not named.
   */
  bootTimeout:
    | number
    | {
        [k: string]: number;
      };
  /**
   * As the other timeouts; "never": a person decides.
   */
  downTimeout?:
    | (number | "never")
    | {
        [k: string]: number | "never";
      };
  /**
   * As the other timeouts; "never": a person decides.
   */
  failedTimeout?:
    | (number | "never")
    | {
        [k: string]: number | "never";
      };
  /**
   * As the other timeouts; "never": a person decides.
   */
  deallocatedTimeout?:
    | (number | "never")
    | {
        [k: string]: number | "never";
      };
  maxExpirationInterval: number;
  inFlightGrace: number;
  groupFillTimeout: number;
  nodearrays?: string[];
  default_resources?: {
    [k: string]: unknown;
  }[];
  vmSizes?: {
    [k: string]: unknown;
  };
  preference: "existing-first" | "bucket-order";
  among: "priority" | "cheapest";
  /**
   * Whether mixes of VM sizes under shared limits are looked for.
   */
  mixes?: "on" | "off";
  placementGroups?: {
    [k: string]: string[];
  };
  caps?: {
    requestSets?: {
      [k: string]: unknown;
    };
    users?: {
      [k: string]: unknown;
    };
  };
  /**
   * Items: What request sets may do: the first rule that names a set counts for it.
   */
  senders?: {
    requestSets: string | string[];
    write?: boolean;
    maxPriority?: number;
    caps?: {
      [k: string]: unknown;
    };
    share?: number;
    hosts?: boolean;
    pools?: boolean | string[];
    dynamicArrays?: boolean | string[];
    nodeNames?: boolean | string[];
    attributes?: string[];
    /**
     * The only free keys of Configuration, for all node arrays or by node array; "default": those that are not named.
     */
    configuration?:
      | string[]
      | {
          [k: string]: string[];
        };
  }[];
  prices?: {
    currency: string;
    locations: {
      [k: string]: {
        [k: string]: unknown;
      };
    };
    "proxied-locations"?: {
      [k: string]: string;
    };
    /**
     * What the disks of one deallocated node cost per hour.
     */
    deallocated?: number;
  };
  planHistory: number;
  /**
   * Node arrays that no other tool manages; true: all.
   */
  exclusiveNodearrays?: true | string[];
  /**
   * Node arrays in which only targets that name their nodes create any.
   */
  named?: string[];
  mode?:
    | ("observe" | "act")
    | {
        [k: string]: "observe" | "act";
      };
  /**
   * Keys of the document that count, and what they count as.
   */
  used: {
    /**
     * With its path, as "nodearrays.hpc.placement_groups".
     */
    key: string;
    /**
     * The app's key for it, with the value if it is a timeout.
     */
    as: string;
  }[];
  /**
   * Keys of the document that change nothing, and why. Values are not repeated.
   */
  ignored: {
    key: string;
    why: string;
  }[];
  /**
   * What counts and is likely a mistake.
   */
  doubts: ProblemItem[];
  /**
   * Named arrays that the cluster does not have (yet).
   */
  unknownNodearrays: string[];
  /**
   * Requests that were committed before this change, and may still be sent.
   */
  underWay: {
    effect: "create" | "start" | "terminate" | "deallocate";
    nodes: number;
    nodearrays: string[];
    /**
     * It is not sent after this.
     */
    until: string;
  }[];
  /**
   * Live request sets that ask for something that the document does not let them have.
   */
  losses: {
    requestSet: string;
    loses: string[];
  }[];
  /**
   * Its number in the history. 0: nothing was ever put.
   */
  version: number;
  /**
   * What changed. Empty: this configuration was in force.
   */
  differences: {
    /**
     * As "prices.currency". Lists are compared as a whole.
     */
    path: string;
    /**
     * As JSON, cut if it is long. Absent: it was not there.
     */
    before?: string;
    /**
     * As JSON, cut if it is long. Absent: it is not there.
     */
    after?: string;
  }[];
  /**
   * Differences that are not listed.
   */
  more: number;
  /**
   * What was written beside what was asked for, and why.
   */
  notes: string[];
  /**
   * What of the cluster is only observed, as "observing only: nothing is created or stopped". Absent: nothing.
   */
  observing?: string;
}
/**
 * Changes of the configuration, newest first.
 *
 */
export interface ConfigurationHistory {
  cluster: string;
  changes: {
    number: number;
    /**
     * Absent: it was there before changes were recorded.
     */
    at?: string;
    /**
     * The signed-in caller. unknown: the platform names none.
     */
    who: string;
    /**
     * It brought back this version.
     */
    rollbackTo?: number;
    differences: {
      /**
       * As "prices.currency". Lists are compared as a whole.
       */
      path: string;
      /**
       * As JSON, cut if it is long. Absent: it was not there.
       */
      before?: string;
      /**
       * As JSON, cut if it is long. Absent: it is not there.
       */
      after?: string;
    }[];
    /**
     * Differences that are not listed.
     */
    more: number;
  }[];
  /**
   * What of the cluster is only observed, as "observing only: nothing is created or stopped". Absent: nothing.
   */
  observing?: string;
}
export interface Health {
  ok: boolean;
  clusters: number;
  /**
   * How many clusters are only observed, in words. Absent: none.
   */
  observing?: string;
  /**
   * Of all clusters, and one while messages lie in demand-poison for five minutes. They leave ok as it is.
   */
  warnings: number;
  /**
   * null: a cluster has never been observed, or cannot be read.
   */
  oldestLookAgeSeconds: number | null;
  /**
   * Messages that failed too often, in demand-poison: the timer handles them. Absent: the queue cannot be read.
   */
  poisonMessages?: {
    count: number;
    /**
     * Absent: there is none, or it is being handled.
     */
    oldestAgeSeconds?: number;
  };
  /**
   * Messages that could not be accepted, in demand-rejected, for 30 days. Absent: the queue cannot be read.
   */
  rejectedMessages?: {
    count: number;
    /**
     * Absent: there is none, or it is being handled.
     */
    oldestAgeSeconds?: number;
  };
}
/**
 * The node will be stopped.
 *
 */
export interface Stop {
  stop: true;
  instance: string;
}
/**
 * This document.
 *
 */
export interface OpenApi {
  openapi: string;
  [k: string]: unknown;
}
