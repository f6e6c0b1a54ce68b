/** An object as the native API answers it. */
export type Row = Readonly<Record<string, unknown>>

/** A column of a table. */
export interface Column {
  readonly title: string
  /** Shown with `-o wide` and in `show` only. */
  readonly wide?: boolean
  value(row: Row): unknown
}

/** A flag of `create` and `set`, and the field of the body it fills. */
export interface Field {
  /** Commander's flags, such as `--port <port>`. */
  readonly flags: string
  readonly description: string
  /** Required by `create`; `set` requires no flag. */
  readonly required?: boolean
  /** For this verb alone. */
  readonly only?: 'create' | 'set'
  /** Where the value goes in the body: a field name, or a path such as `monitor.type`. */
  readonly field: string
  parse?(text: string): unknown
}

/** A field that holds ids and whose flag takes names. */
export interface Reference {
  readonly path: string
  readonly title: string
}

/** One noun of the command line. Its verbs (list, show, create, delete, watch) follow from this. */
export interface Resource {
  readonly noun: string
  /** Its name in messages: `load balancer`. */
  readonly title: string
  readonly summary: string
  /** Path under `/api/v1`, with `{lb}` and `{pool}` if it is inside another object. */
  readonly path: string
  /** The enclosing objects, in order: their names are arguments before the name. */
  readonly within: readonly ('lb' | 'pool' | 'network')[]
  readonly columns: readonly Column[]
  /** Printed only by `create`: secrets that the server shows once. */
  readonly shownOnce?: readonly Column[]
  readonly fields: readonly Field[]
  readonly verbs: readonly ('list' | 'show' | 'create' | 'set' | 'delete')[]
  /** Fields whose flags take names of other objects: how to find their ids. */
  readonly references?: Readonly<Record<string, Reference>>
  /** Builds the body from the flags' fields, if it is more than a copy. */
  body?(fields: Row): Row
}

/** Whether it, or its enclosing object, belongs to a project: two projects may use one name. */
export const isOwned = ({ path }: Pick<Resource, 'path'>): boolean =>
  /^\/(load-balancers|networks|addresses|certificates|domain-claims)\b/.test(path)

/** Whether the API says of a write what it would do. */
export const hasDryRun = ({ path }: Pick<Resource, 'path'>): boolean => path.startsWith('/load-balancers')

/** The flags of a verb. */
export const fieldsOf = ({ fields }: Resource, verb: 'create' | 'set'): readonly Field[] =>
  fields.filter(({ only }) => only === undefined || only === verb)

/** Reads `a.b.c` of a row. */
export const at = (row: Row, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, part) => (value !== null && typeof value === 'object' ? (value as Row)[part] : undefined),
      row,
    )

export const column = (title: string, path: string, wide = false): Column => ({
  title,
  wide,
  value: (row) => at(row, path),
})
export const count = (title: string, path: string, wide = false): Column => ({
  title,
  wide,
  value: (row) => {
    const value = at(row, path)
    return Array.isArray(value) ? value.length : 0
  },
})
export const numberList = (text: string): unknown => (commaList(text) as readonly string[]).map(wholeNumber)
export const wholeNumber = (text: string): unknown => (/^-?\d+$/.test(text) ? Number(text) : text)
export const commaList = (text: string): unknown => (text === '' ? [] : text.split(',').map((part) => part.trim()))
/** Ids of the projects that may use it. */
export const projectsColumn: Column = {
  title: 'PROJECTS',
  wide: true,
  value: ({ projectIds }) => (!Array.isArray(projectIds) ? 'all' : projectIds.length === 0 ? 'none' : projectIds),
}
/** A list of ciphers as OpenSSL writes it. */
export const cipherNames = (text: string): unknown => (text === 'default' ? null : text.split(':'))
/** `all` is null, `none` is empty. */
export const projectList = (text: string): unknown => (text === 'all' ? null : text === 'none' ? [] : commaList(text))
/** `a, b or c`. */
export const oneOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
/** `none` clears a value. */
export const orNone =
  (parse: (text: string) => unknown = (text) => text) =>
  (text: string): unknown =>
    text === 'none' ? null : parse(text)
/** Other values are left for the server to refuse. */
export const yesOrNo = (text: string): unknown => (text === 'yes' ? true : text === 'no' ? false : text)
