import type { Preview } from '@spout/model'
import { type Command, Option } from 'commander'
import { bodyOf } from '../../body.ts'
import { type ScopedSession, scopedTo } from '../../lookup.ts'
import type { Noun } from '../../nouns/noun.ts'
import type { WritingSession } from '../../nouns/write.ts'
import { printPreview } from '../../output/preview-text.ts'
import { FORMATS, type Format, printList, printOne } from '../../output/print.ts'
import { type Column, fieldsOf, hasDryRun, isOwned, type Resource, type Row } from '../../resources/resource.ts'
import { type CommandContext, sessionOf, UsageError } from '../connections/context.ts'
import { printAtChanges } from './print-at-changes.ts'

/** Adds `spout NOUN list|show|create|set|delete` to the program. */
export function addNoun(program: Command, resource: Resource, noun: Noun, context: CommandContext): void {
  const command = new NounCommand(program, resource, noun, context)
  const { verbs } = resource
  const change = noun.set?.bind(noun)
  if (verbs.includes('list')) command.addList()
  if (verbs.includes('show')) command.addShow()
  if (verbs.includes('create')) command.addCreate()
  if (verbs.includes('set') && change !== undefined) command.addSet(change)
  if (verbs.includes('delete')) command.addDelete()
}

interface Options {
  readonly output: Format
  readonly watch?: boolean
  readonly project?: string
  readonly dryRun?: boolean
}

/** What the user gave: the names of the enclosing objects, the object's own name, and the options. */
interface Given {
  readonly within: readonly string[]
  readonly name: string
  readonly options: Options & Readonly<Record<string, unknown>>
}

/** The command of one noun, to which verbs are added. */
class NounCommand {
  readonly #command: Command
  readonly #resource: Resource
  readonly #noun: Noun
  readonly #context: CommandContext

  constructor(program: Command, resource: Resource, noun: Noun, context: CommandContext) {
    this.#command = program.command(resource.noun).description(resource.summary)
    this.#resource = resource
    this.#noun = noun
    this.#context = context
  }

  addList(): void {
    const list = withOutput(this.#verb('list', `lists ${this.#resource.summary}`, null))
    this.#takeProject(list)
    list.option('-w, --watch', 'prints the list again whenever it changes')
    this.#act(list, async ({ within, options }) => {
      const session = await this.#session(options)
      const read = async () =>
        printList(await this.#noun.list(session, within), this.#resource.columns, this.#printing(options))
      const write = (text: string) => this.#context.write(text)
      const watched = { path: this.#noun.watchPath, read, write, signal: this.#context.signal }
      if (options.watch) await printAtChanges(session, watched)
      else write(await read())
    })
  }

  addShow(): void {
    const show = this.#verb('show', `shows one ${this.#resource.title}`, 'name')
    this.#takeProject(show)
    this.#act(withOutput(show), async ({ within, name, options }) => {
      this.#print(await this.#noun.show(await this.#session(options), within, name), this.#resource.columns, options)
    })
  }

  addCreate(): void {
    const { columns, shownOnce = [], title } = this.#resource
    const create = withOutput(this.#verb('create', `creates one ${title}`, 'name'))
    const fields = fieldsOf(this.#resource, 'create')
    for (const { flags, description, required } of fields)
      if (required) create.requiredOption(flags, description)
      else create.option(flags, description)
    this.#takeProject(create)
    this.#takeDryRun(create)
    // If an object has an owner, `--project` names the owner of the new one; other names are global.
    const namesOwner = fields.some(({ field }) => field === 'project')
    this.#act(create, async ({ within, name, options }) => {
      const body = this.#body('create', options)
      const session = namesOwner ? sessionOf(this.#context) : await this.#session(options)
      await this.#write(
        session,
        options,
        (writing) => this.#noun.create(writing, within, name, body),
        (row) => this.#print(row, [...columns, ...shownOnce], options),
      )
    })
  }

  addSet(change: NonNullable<Noun['set']>): void {
    const { columns, title } = this.#resource
    const set = withOutput(this.#verb('set', `changes one ${title}; other fields stay`, 'name'))
    for (const { flags, description } of fieldsOf(this.#resource, 'set')) set.option(flags, description)
    this.#takeProject(set)
    this.#takeDryRun(set)
    this.#act(set, async ({ within, name, options }) => {
      const body = this.#body('set', options)
      if (Object.keys(body).length === 0) throw new UsageError('nothing to change: name a flag (--help lists them)')
      await this.#write(
        await this.#session(options),
        options,
        (writing) => change(writing, within, name, body),
        (row) => this.#print(row, columns, options),
      )
    })
  }

  addDelete(): void {
    const { title } = this.#resource
    const remove = this.#verb('delete', `deletes one ${title}`, 'name')
    this.#takeProject(remove)
    if (hasDryRun(this.#resource)) this.#takeDryRun(withOutput(remove))
    this.#act(remove, async ({ within, name, options }) => {
      await this.#write(
        await this.#session(options),
        options,
        (writing) => this.#noun.delete(writing, within, name),
        () => this.#context.write(`Deleted ${title} ${name}.\n`),
      )
    })
  }

  /** A verb with its arguments: the names of the enclosing objects, then `argument`. */
  #verb(name: string, description: string, argument: 'name' | null): Command {
    const verb = this.#command.command(name).description(description)
    for (const parent of this.#resource.within) verb.argument(`<${parent}>`)
    if (argument !== null) verb.argument(`<${argument}>`)
    return verb
  }

  /** Adds `--project` where several projects may use one name, unless the verb has a flag of that name. */
  #takeProject(verb: Command): void {
    if (isOwned(this.#resource) && !verb.options.some(({ long }) => long === '--project'))
      verb.option('--project <project>', 'the project of the names, if several use one')
  }

  /** Adds `--dry-run` where the API has one. */
  #takeDryRun(verb: Command): void {
    if (hasDryRun(this.#resource)) verb.option('--dry-run', 'says what it would do, and does nothing')
  }

  /** Writes and prints, or prints what the write would do. */
  async #write<T>(
    session: ScopedSession,
    options: Options,
    run: (session: ScopedSession & WritingSession) => Promise<T>,
    print: (written: T) => void,
  ): Promise<void> {
    if (!options.dryRun) return print(await run(session))
    const previews: Preview[] = []
    await run({ ...session, previewing: (preview) => previews.push(preview) })
    for (const preview of previews) this.#context.write(printPreview(preview, this.#printing(options)))
  }

  #act(verb: Command, action: (given: Given) => Promise<void>): void {
    const depth = this.#resource.within.length
    verb.action(async (...args: unknown[]) => {
      const names = args.slice(0, verb.registeredArguments.length) as string[]
      const options = args[names.length] as Given['options']
      await action({ within: names.slice(0, depth), name: names[depth] ?? '', options })
    })
  }

  /** The session for a call with these options. */
  #session({ project }: Options): Promise<ScopedSession> {
    return scopedTo(sessionOf(this.#context), isOwned(this.#resource) ? project : undefined)
  }

  #body(verb: 'create' | 'set', options: Given['options']): Row {
    const fields = bodyOf(fieldsOf(this.#resource, verb), options)
    return this.#resource.body?.(fields) ?? fields
  }

  #printing({ output: format }: Options) {
    return { format, colour: this.#context.colour }
  }

  #print(row: Row, columns: readonly Column[], options: Options): void {
    this.#context.write(printOne(row, columns, this.#printing(options)))
  }
}

const withOutput = (verb: Command): Command =>
  verb.addOption(new Option('-o, --output <format>', 'output format').choices([...FORMATS]).default('table'))
