import packageJson from '../../package.json' with { type: 'json' }

/** The version of Spout that this program is of: of a release, or of the one to come. */
export const VERSION: string = packageJson.version
