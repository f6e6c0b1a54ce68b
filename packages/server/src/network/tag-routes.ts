import type { Principal } from '@spout/admission/contract'
import { addressTags, parseAs, SpoutError } from '@spout/model'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireRole } from '../authn/access.ts'
import type { NetworkContext } from './context.ts'
import { ownAddress } from './scope.ts'
import { ownGroup } from './security-groups.ts'

const tagSet = z.strictObject({ tags: addressTags })

type Tagged = { Params: { id: string } }
type OneTag = { Params: { id: string; tag: string } }

type EditTags = (tags: readonly string[]) => string[]

/** Objects with tags, of one collection. */
interface TaggedObjects {
  readonly path: string
  readonly tagsOf: (principal: Principal, id: string) => readonly string[]
  readonly change: (principal: Principal, id: string, edit: EditTags) => Promise<readonly string[]>
}

/** Tags of objects: the whole set, or one of them. https://docs.openstack.org/api-ref/network/v2/#tags */
export function tagRoutes(scope: FastifyInstance, context: NetworkContext): void {
  const { admission } = context
  for (const [path, what] of [
    ['floatingips', 'FloatingIP'],
    ['ports', 'Port'],
  ] as const)
    tagRoutesOf(scope, context, {
      path,
      tagsOf: (principal, id) => ownAddress(context, principal, id, what).tags,
      async change(principal, id, edit) {
        const { portId } = ownAddress(context, principal, id, what)
        return (await admission.changeAddressText(portId, ({ tags }) => ({ tags: edit(tags) }))).tags
      },
    })
  tagRoutesOf(scope, context, {
    path: 'security-groups',
    tagsOf: (principal, id) => ownGroup(context, principal, id).tags,
    async change(principal, id, edit) {
      const group = ownGroup(context, principal, id)
      return (await admission.changeSecurityGroup(group.id, ({ tags }) => ({ tags: edit(tags) }))).tags
    },
  })
}

function tagRoutesOf(scope: FastifyInstance, { authenticate }: NetworkContext, of: TaggedObjects): void {
  const path = `/v2.0/${of.path}/:id/tags`

  const changed = async (request: FastifyRequest<Tagged>, edit: EditTags): Promise<readonly string[]> => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    return of.change(principal, request.params.id, (tags) => [...new Set(edit(tags))])
  }
  const requireTag = (tags: readonly string[], tag: string): void => {
    if (!tags.includes(tag)) throw new SpoutError('NotFound', { what: 'Tag', id: tag })
  }

  scope.get<Tagged>(path, async (request) => ({
    tags: of.tagsOf(await authenticate(request), request.params.id),
  }))

  scope.put<Tagged>(path, async (request) => ({
    tags: await changed(request, () => parseAs(tagSet, request.body).tags),
  }))

  scope.delete<Tagged>(path, async (request, reply) => {
    await changed(request, () => [])
    return reply.code(204).send()
  })

  scope.get<OneTag>(`${path}/:tag`, async (request, reply) => {
    requireTag(of.tagsOf(await authenticate(request), request.params.id), request.params.tag)
    return reply.code(204).send()
  })

  scope.put<OneTag>(`${path}/:tag`, async (request, reply) => {
    await changed(request, (tags) => [...tags, request.params.tag])
    return reply.code(201).send()
  })

  scope.delete<OneTag>(`${path}/:tag`, async (request, reply) => {
    await changed(request, (tags) => {
      requireTag(tags, request.params.tag)
      return tags.filter((tag) => tag !== request.params.tag)
    })
    return reply.code(204).send()
  })
}
