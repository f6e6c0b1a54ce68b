/** What the server of `named` goes by. */
export const NAME = 'app.example'

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
  okOverTls: 8012,
  failingOverTls: 8013,
  clientsOverTls: 8014,
  /** Handshakes with who names it `app.example`, answers 200 to who asks it `HEAD /up` by HTTP/1.1 as that host, else 404. */
  named: 8015,
} as const
