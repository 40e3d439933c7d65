metadata description = 'The plan and the function app, with every setting that it reads.'

@description('Name of the app.')
param name string

@description('Name of the plan.')
param planName string

@description('Region.')
param location string

@description('Tags.')
param tags object

@description('Major version of Node.')
param nodeVersion string

@description('Memory of an instance.')
param instanceMemoryMB int

@description('Most instances of a function group.')
param maximumInstanceCount int

@description('Instances of the function demand that are always there.')
param alwaysReadyDemandInstances int

@description('Spreads the plan over zones.')
param zoneRedundant bool

@description('Id of the subnet of the app. Empty: no network.')
param subnetId string

@description('Id of the identity.')
param identityId string

@description('Client id of the identity.')
param identityClientId string

@description('Name of the storage account with the state.')
param storageName string

@description('Name of the storage account with the demand queues. Empty: the same.')
param demandStorageName string

@description('Name of the storage account with the package. Empty: that with the state.')
param packageStorageName string

@description('Blob container of the package.')
param packageContainer string

@description('Addresses that may call the app. Empty: every address.')
param allowedAddresses array

@description('Addresses that may reach the SCM site. Empty: those of allowedAddresses.')
param deployAddresses array

@description('true: the app gets a private endpoint. It has no public address then, except for the addresses above.')
param hasPrivateEndpoint bool

@description('Where telemetry goes. Not a secret, as local authentication is off.')
param insightsConnectionString string

@description('Address of CycleCloud.')
param cyclecloudUrl string

@description('Names of the clusters.')
param clusterNames array

@description('More keys for every cluster.')
param clusterOptions object

@description('password or identity.')
param authentication string

@description('CycleCloud user.')
param username string

@description('Token scope for CycleCloud.')
param tokenScope string

@description('Certificate of CycleCloud, PEM text.')
param certificate string

@description('Address of the secret with the password.')
param passwordSecretUri string

@description('Address of the secret with the keys of stop URLs.')
param autostopKeysUri string

@description('Mode of new clusters: observe or act.')
param defaultMode string

@description('More settings. They count where both name the same.')
param moreSettings object

var usesPassword = authentication == 'password'
var access = usesPassword ? {
  username: username
  passwordSetting: 'CYCLECLOUD_PASSWORD'
} : {
  identity: { clientId: identityClientId, scope: tokenScope }
}
var trust = empty(certificate) ? {} : { ca: certificate }
var clusters = [for cluster in clusterNames: union({ name: cluster, url: cyclecloudUrl }, access, trust, clusterOptions)]

// A rule takes a range only: a single address is one of 32 bits, or 128.
var appRules = [for (address, index) in allowedAddresses: {
  name: 'allowed-${index}'
  priority: 100 + index
  action: 'Allow'
  ipAddress: contains(address, '/') ? address : '${address}/${contains(address, ':') ? 128 : 32}'
}]
var deployRules = [for (address, index) in deployAddresses: {
  name: 'deploy-${index}'
  priority: 100 + index
  action: 'Allow'
  ipAddress: contains(address, '/') ? address : '${address}/${contains(address, ':') ? 128 : 32}'
}]
// A private endpoint comes in beside these rules.
var isPublic = !hasPrivateEndpoint || !empty(allowedAddresses) || !empty(deployAddresses)

resource storage 'Microsoft.Storage/storageAccounts@2026-04-01' existing = {
  name: storageName
}

resource demandStorage 'Microsoft.Storage/storageAccounts@2026-04-01' existing = {
  name: empty(demandStorageName) ? storageName : demandStorageName
}

resource packageStorage 'Microsoft.Storage/storageAccounts@2026-04-01' existing = {
  name: empty(packageStorageName) ? storageName : packageStorageName
}

resource plan 'Microsoft.Web/serverfarms@2025-03-01' = {
  name: planName
  location: location
  tags: tags
  kind: 'functionapp'
  sku: {
    name: 'FC1'
    tier: 'FlexConsumption'
  }
  properties: {
    reserved: true
    zoneRedundant: zoneRedundant
  }
}

resource site 'Microsoft.Web/sites@2025-03-01' = {
  name: name
  location: location
  tags: union(tags, { 'azd-service-name': 'autoscaler' })
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: { '${identityId}': {} }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'
    clientAffinityEnabled: false
    keyVaultReferenceIdentity: identityId
    virtualNetworkSubnetId: empty(subnetId) ? null : subnetId
    outboundVnetRouting: empty(subnetId) ? null : { allTraffic: true }
    functionAppConfig: {
      deployment: {
        storage: {
          type: 'blobContainer'
          value: '${packageStorage.properties.primaryEndpoints.blob}${packageContainer}'
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identityId
          }
        }
      }
      runtime: {
        name: 'node'
        version: nodeVersion
      }
      scaleAndConcurrency: {
        instanceMemoryMB: instanceMemoryMB
        maximumInstanceCount: maximumInstanceCount
        alwaysReady: alwaysReadyDemandInstances == 0 ? [] : [
          {
            name: 'function:demand'
            instanceCount: alwaysReadyDemandInstances
          }
        ]
      }
    }
    siteConfig: {
      minTlsVersion: '1.2'
      ftpsState: 'Disabled'
      http20Enabled: true
      ipSecurityRestrictionsDefaultAction: empty(allowedAddresses) && !hasPrivateEndpoint ? 'Allow' : 'Deny'
      ipSecurityRestrictions: appRules
      // A list for the app alone would leave the site open that takes its code.
      scmIpSecurityRestrictionsUseMain: empty(deployAddresses)
      scmIpSecurityRestrictionsDefaultAction: empty(deployAddresses) ? 'Allow' : 'Deny'
      scmIpSecurityRestrictions: deployRules
    }
  }

  resource ftp 'basicPublishingCredentialsPolicies' = {
    name: 'ftp'
    properties: { allow: false }
  }

  resource scm 'basicPublishingCredentialsPolicies' = {
    name: 'scm'
    properties: { allow: false }
  }
}

var url = 'https://${site.properties.defaultHostName}'

resource settings 'Microsoft.Web/sites/config@2025-03-01' = {
  parent: site
  name: 'appsettings'
  properties: union({
    AzureWebJobsStorage__credential: 'managedidentity'
    AzureWebJobsStorage__clientId: identityClientId
    AzureWebJobsStorage__blobServiceUri: storage.properties.primaryEndpoints.blob
    AzureWebJobsStorage__queueServiceUri: storage.properties.primaryEndpoints.queue
    AzureWebJobsStorage__tableServiceUri: storage.properties.primaryEndpoints.table
    APPLICATIONINSIGHTS_CONNECTION_STRING: insightsConnectionString
    APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${identityClientId};Authorization=AAD'
    // 34 MiB: the app takes 32 MiB and says what is too much; without this the host takes 100 MB of anybody before the app sees it.
    FUNCTIONS_REQUEST_BODY_SIZE_LIMIT: '35651584'
    AUTOSCALER_CLUSTERS: string(clusters)
    AUTOSCALER_PUBLIC_URL: url
    AUTOSCALER_AUTOSTOP_KEYS: '@Microsoft.KeyVault(SecretUri=${autostopKeysUri})'
    AUTOSCALER_DEFAULT_MODE: defaultMode
  }, usesPassword ? {
    CYCLECLOUD_PASSWORD: '@Microsoft.KeyVault(SecretUri=${passwordSecretUri})'
  } : {}, empty(demandStorageName) ? {} : {
    AUTOSCALER_DEMAND__credential: 'managedidentity'
    AUTOSCALER_DEMAND__clientId: identityClientId
    AUTOSCALER_DEMAND__queueServiceUri: demandStorage.properties.primaryEndpoints.queue
  }, moreSettings)
  dependsOn: [site::ftp, site::scm]
}

output name string = site.name
output id string = site.id
output url string = url
output demandQueueUri string = demandStorage.properties.primaryEndpoints.queue
