import { type Address, addressTags, parseAs, SpoutError } from '@spout/model'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireRole } from '../authn/access.ts'
import type { NetworkContext } from './context.ts'
import { ownAddress } from './scope.ts'

const tagSet = z.strictObject({ tags: addressTags })

type Tagged = { Params: { id: string } }
type OneTag = { Params: { id: string; tag: string } }

/** Tags of floating IPs and ports: the whole set, or one of them. https://docs.openstack.org/api-ref/network/v2/#tags */
export function addressTagRoutes(scope: FastifyInstance, context: NetworkContext): void {
  tagRoutes(scope, context, '/v2.0/floatingips/:id/tags', 'FloatingIP')
  tagRoutes(scope, context, '/v2.0/ports/:id/tags', 'Port')
}

function tagRoutes(scope: FastifyInstance, context: NetworkContext, path: string, what: 'FloatingIP' | 'Port'): void {
  const { admission, authenticate } = context

  const found = async (request: FastifyRequest<Tagged>): Promise<Address> =>
    ownAddress(context, await authenticate(request), request.params.id, what)
  const changed = async (
    request: FastifyRequest<Tagged>,
    edit: (tags: readonly string[]) => readonly string[],
  ): Promise<readonly string[]> => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const { portId } = ownAddress(context, principal, request.params.id, what)
    const { tags } = await admission.changeAddressText(portId, (current) => ({
      tags: [...new Set(edit(current.tags))],
    }))
    return tags
  }
  const requireTag = (tags: readonly string[], tag: string): void => {
    if (!tags.includes(tag)) throw new SpoutError('NotFound', { what: 'Tag', id: tag })
  }

  scope.get<Tagged>(path, async (request) => ({ tags: (await found(request)).tags }))

  scope.put<Tagged>(path, async (request) => ({
    tags: await changed(request, () => parseAs(tagSet, request.body).tags),
  }))

  scope.delete<Tagged>(path, async (request, reply) => {
    await changed(request, () => [])
    return reply.code(204).send()
  })

  scope.get<OneTag>(`${path}/:tag`, async (request, reply) => {
    requireTag((await found(request)).tags, request.params.tag)
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
