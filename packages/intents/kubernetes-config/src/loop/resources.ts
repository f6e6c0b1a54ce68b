import { GROUP, VERSION } from '@spout/custom-resources'
import type { CustomObjectsOptions, Resource } from '@spout/kube'
import type { ConfigObject } from '../handlers/handler.ts'

/** @param kind of ours, without a namespace */
export const resourceOf = (kind: string): Resource<ConfigObject> => ({
  apiVersion: `${GROUP}/${VERSION}`,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: false,
})

/** How objects of a kind are read and written. */
export const writtenAs = (kind: string): Pick<CustomObjectsOptions<ConfigObject>, 'resource' | 'fieldManager'> => ({
  resource: resourceOf(kind),
  fieldManager: 'spout-config',
})
