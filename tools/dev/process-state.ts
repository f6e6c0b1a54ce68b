/** The state that a test file can leave behind in a process that it shares with the files after it. */
export interface ProcessState {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly directory: string
  readonly umask: number
  readonly title: string
  /** Numbers of listeners by event. `exit` is left out: a loaded library listens to it, and stays loaded. */
  readonly listeners: Readonly<Record<string, number>>
  /** Names on `globalThis`, except the marks of loaded libraries, such as `__zod_globalRegistry`. */
  readonly globals: readonly string[]
  /** Functions of Node.js that fake timers and stubs replace, by name. */
  readonly functions: Readonly<Record<string, unknown>>
}

const OFTEN_REPLACED = ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch', 'Date'] as const

/** This process now. */
export const processState = (): ProcessState => ({
  environment: { ...process.env },
  directory: process.cwd(),
  umask: process.umask(),
  title: process.title,
  listeners: Object.fromEntries(
    process
      .eventNames()
      .filter((event) => event !== 'exit')
      .map((event) => [String(event), process.listenerCount(event)]),
  ),
  globals: Object.getOwnPropertyNames(globalThis).filter((name) => !name.startsWith('__')),
  functions: Object.fromEntries(OFTEN_REPLACED.map((name) => [name, globalThis[name]])),
})

/**
 * A line for each difference, such as `environment: SPOUT_PROGRAMS`. Values are not shown, because they may be secret.
 */
export function leftBehind(before: ProcessState, after: ProcessState): readonly string[] {
  const whole = (['directory', 'umask', 'title'] as const).filter((part) => before[part] !== after[part])
  const parts = (['environment', 'listeners', 'functions'] as const).flatMap((part) =>
    differing(before[part], after[part]).map((name) => `${part}: ${name}`),
  )
  const names = (globals: readonly string[]) => Object.fromEntries(globals.map((name) => [name, true]))
  const globals = differing(names(before.globals), names(after.globals)).map((name) => `globals: ${name}`)
  return [...whole, ...parts, ...globals]
}

const differing = (before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>) =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => before[name] !== after[name]).sort()
