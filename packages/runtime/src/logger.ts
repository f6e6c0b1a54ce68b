import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger } from 'pino'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'

export interface LoggerOptions {
  /** Which program speaks. */
  readonly name: string
  readonly level: LogLevel
  /** Standard output when left out. */
  readonly destination?: DestinationStream
}

/**
 * JSON lines on standard output. What happened goes into `event`, ids and reasons into fields of their own, never into
 * the text alone. Field names that carry credentials are redacted, wherever a careless call might put them.
 */
export const createLogger = (options: LoggerOptions): Logger =>
  pino(
    {
      name: options.name,
      level: options.level,
      base: { name: options.name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: ['password', 'secret', 'token', 'authorization', '*.password', '*.secret', '*.token', '*.authorization'],
        censor: '[redacted]',
      },
    },
    options.destination ?? pino.destination({ dest: 1, sync: true }),
  )

/** For tests and tools that want no log. */
export const silentLogger = (): Logger => pino({ level: 'silent' })
