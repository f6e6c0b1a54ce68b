/** What answers on which port of the lab's host. */
export const PORTS = {
  ok: 8001,
  failing: 8002,
  mail: 8003,
  silent: 8004,
  resetting: 8005,
  /** Nobody listens. */
  none: 8006,
  tls: 8007,
  oldTls: 8008,
  refusingTls: 8009,
  endlessTls: 8010,
  haltingTls: 8011,
} as const
