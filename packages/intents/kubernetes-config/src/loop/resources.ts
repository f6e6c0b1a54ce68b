import { GROUP, VERSION } from '@spout/custom-resources'
import type { CustomObjectsOptions, Resource } from '@spout/kube'
import type { ConfigObject } from '../handlers/handler.ts'

/** @param kind one of our kinds that have no namespace */
export const resourceOf = (kind: string): Resource<ConfigObject> => ({
  apiVersion: `${GROUP}/${VERSION}`,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: false,
})

/** The options of `CustomObjects` for one of our kinds. */
export const writtenAs = (kind: string): Pick<CustomObjectsOptions<ConfigObject>, 'resource' | 'fieldManager'> => ({
  resource: resourceOf(kind),
  fieldManager: 'spout-config',
})
