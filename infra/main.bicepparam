using 'main.bicep'

// Values come from the environment: azd sets those of `azd env set`, and az takes those of the shell.
// CYCLECLOUD_PASSWORD belongs into the shell of one command only (docs/operations.md). Never put it here or into `azd env set`.

param environmentName = readEnvironmentVariable('AZURE_ENV_NAME', 'autoscaler')
param cyclecloudUrl = readEnvironmentVariable('CYCLECLOUD_URL')
param clusterNames = split(replace(readEnvironmentVariable('CYCLECLOUD_CLUSTERS'), ', ', ','), ',')
param cyclecloudAuthentication = readEnvironmentVariable('CYCLECLOUD_AUTHENTICATION', 'password')
param cyclecloudUsername = readEnvironmentVariable('CYCLECLOUD_USERNAME', 'autoscaler')
param cyclecloudPassword = readEnvironmentVariable('CYCLECLOUD_PASSWORD', '')
param cyclecloudPasswordSecretUri = readEnvironmentVariable('CYCLECLOUD_PASSWORD_SECRET', '')
param cyclecloudPasswordExpiry = readEnvironmentVariable('CYCLECLOUD_PASSWORD_EXPIRY', '')
param cyclecloudTokenScope = readEnvironmentVariable('CYCLECLOUD_TOKEN_SCOPE', '')
param cyclecloudCertificate = readEnvironmentVariable('CYCLECLOUD_CERTIFICATE', '')
param defaultMode = readEnvironmentVariable('AUTOSCALER_MODE', 'observe')
param existingVaultId = readEnvironmentVariable('AUTOSCALER_VAULT_ID', '')
param network = readEnvironmentVariable('AUTOSCALER_NETWORK', 'none')
param appSubnetId = readEnvironmentVariable('AUTOSCALER_APP_SUBNET', '')
param endpointSubnetId = readEnvironmentVariable('AUTOSCALER_ENDPOINT_SUBNET', '')
param allowedAddresses = empty(readEnvironmentVariable('AUTOSCALER_ALLOWED_ADDRESSES', '')) ? [] : split(replace(readEnvironmentVariable('AUTOSCALER_ALLOWED_ADDRESSES', ''), ', ', ','), ',')
param deployAddresses = empty(readEnvironmentVariable('AUTOSCALER_DEPLOY_ADDRESSES', '')) ? [] : split(replace(readEnvironmentVariable('AUTOSCALER_DEPLOY_ADDRESSES', ''), ', ', ','), ',')
param appPrivateEndpoint = readEnvironmentVariable('AUTOSCALER_APP_PRIVATE_ENDPOINT', 'false') == 'true'
param alertEmail = readEnvironmentVariable('AUTOSCALER_ALERT_EMAIL', '')
param actionGroupId = readEnvironmentVariable('AUTOSCALER_ACTION_GROUP', '')
param docsUrl = readEnvironmentVariable('AUTOSCALER_DOCS_URL', '')
