import { watch } from '@spout/client/api'
import { type Command, Option } from 'commander'
import { bodyOf } from '../../body.ts'
import { scopedTo } from '../../lookup.ts'
import type { Noun } from '../../nouns/noun.ts'
import { FORMATS, type Format, printList, printOne } from '../../output/print.ts'
import { fieldsOf, isOwned, type Resource, type Row } from '../../resources/resource.ts'
import { type CommandContext, sessionOf, UsageError } from '../connections/context.ts'

const output = (): Option => new Option('-o, --output <format>', 'output format').choices([...FORMATS]).default('table')

/** Adds `spout NOUN list|show|create|set|delete` to the program. */
export function addNoun(program: Command, resource: Resource, noun: Noun, context: CommandContext): void {
  const command = program.command(resource.noun).description(resource.summary)
  const parents = resource.within.map((parent) => `<${parent}>`).join(' ')
  const depth = resource.within.length
  const verb = (name: string, description: string, argument: string): Command => {
    const added = command.command(name).description(description)
    for (const part of `${parents} ${argument}`.split(' ').filter(Boolean)) added.argument(part)
    return added
  }
  const named = isOwned(resource)
  const takesProject = (added: Command): Command =>
    named && !added.options.some(({ long }) => long === '--project')
      ? added.option('--project <project>', 'the project of the names, if several use one')
      : added
  /** The session for a call with these options. */
  const session = (options: unknown) =>
    scopedTo(sessionOf(context), named ? (options as { readonly project?: string }).project : undefined)
  const printing = (options: { readonly output: Format }) => ({ format: options.output, colour: context.colour })

  const bodyOfVerb = (name: 'create' | 'set', options: unknown): Row => {
    const fields = bodyOf(fieldsOf(resource, name), options as Record<string, unknown>)
    return resource.body?.(fields) ?? fields
  }

  if (resource.verbs.includes('list')) {
    const list = takesProject(verb('list', `lists ${resource.summary}`, '').addOption(output()))
    list.option('-w, --watch', 'prints the list again whenever something changes')
    list.action(async (...args: unknown[]) => {
      const within = args.slice(0, depth) as string[]
      const options = args[depth] as { readonly output: Format; readonly watch?: boolean }
      const scoped = await session(options)
      const print = async () =>
        context.write(printList(await noun.list(scoped, within), resource.columns, printing(options)))
      await print()
      const path = options.watch ? ((await noun.watchPath(scoped, within)) ?? '/load-balancers') : null
      if (path === null) return
      let known = false
      for await (const line of watch<{ type: string }>(scoped, `${path}?watch=1`, context.signal)) {
        // Objects that exist come first, up to a bookmark: they have been printed already.
        if (line.type === 'BOOKMARK') known = true
        else if (known) await print()
      }
    })
  }
  if (resource.verbs.includes('show'))
    takesProject(verb('show', `shows one ${resource.title}`, '<name>'))
      .addOption(output())
      .action(async (...args: unknown[]) => {
        const options = args[depth + 1] as { readonly output: Format }
        const row = await noun.show(await session(options), args.slice(0, depth) as string[], args[depth] as string)
        context.write(printOne(row, resource.columns, printing(options)))
      })
  if (resource.verbs.includes('create')) {
    const create = verb('create', `creates one ${resource.title}`, '<name>').addOption(output())
    for (const { flags, description, required } of fieldsOf(resource, 'create'))
      if (required) create.requiredOption(flags, description)
      else create.option(flags, description)
    takesProject(create)
    create.action(async (...args: unknown[]) => {
      const options = args[depth + 1] as { readonly output: Format }
      const body = bodyOfVerb('create', args[depth + 1])
      // If an object has an owner, `--project` names the owner of the new one; other names are global.
      const inBody = fieldsOf(resource, 'create').some(({ field }) => field === 'project')
      const row = await noun.create(
        await session(inBody ? {} : options),
        args.slice(0, depth) as string[],
        args[depth] as string,
        body,
      )
      const columns = [...resource.columns, ...(resource.shownOnce ?? [])]
      context.write(printOne(row, columns, printing(options)))
    })
  }
  const change = noun.set?.bind(noun)
  if (resource.verbs.includes('set') && change !== undefined) {
    const set = verb('set', `changes one ${resource.title}; other fields stay`, '<name>').addOption(output())
    for (const { flags, description } of fieldsOf(resource, 'set')) set.option(flags, description)
    takesProject(set)
    set.action(async (...args: unknown[]) => {
      const options = args[depth + 1] as { readonly output: Format }
      const body = bodyOfVerb('set', args[depth + 1])
      if (Object.keys(body).length === 0) throw new UsageError('nothing to change: name a flag (--help lists them)')
      const row = await change(await session(options), args.slice(0, depth) as string[], args[depth] as string, body)
      context.write(printOne(row, resource.columns, printing(options)))
    })
  }
  if (resource.verbs.includes('delete'))
    takesProject(verb('delete', `deletes one ${resource.title}`, '<name>')).action(async (...args: unknown[]) => {
      await noun.delete(await session(args[depth + 1]), args.slice(0, depth) as string[], args[depth] as string)
      context.write(`Deleted ${resource.title} ${args[depth] as string}.\n`)
    })
}
