import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger } from 'pino'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'

export interface LoggerOptions {
  /** The name of the program. */
  readonly name: string
  readonly level: LogLevel
  /** Standard output when left out. */
  readonly destination?: DestinationStream
}

/**
 * Writes JSON lines to standard output. `event` names what happened; ids and reasons have fields of their own and are
 * not in the text alone. Fields whose names carry credentials are redacted, wherever they occur.
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

/** A logger for tests and tools that writes nothing. */
export const silentLogger = (): Logger => pino({ level: 'silent' })
