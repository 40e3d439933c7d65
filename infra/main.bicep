targetScope = 'resourceGroup'

metadata description = 'The CycleCloud autoscaler: a function app that holds no key, and everything that it needs.'

// names
@description('Short name of this deployment: letters, digits and hyphens. It is part of every resource name, and azd finds the resources by it.')
@minLength(2)
@maxLength(20)
param environmentName string
@description('Region of all resources. Choose the region of CycleCloud.')
param location string = resourceGroup().location
@description('Tags for every resource.')
param tags object = {}
@description('Names of your own. Keys: identity, storage, demandStorage, packageStorage, vault, workspace, insights, plan, app, network, actionGroup. What is left out gets a name made from environmentName.')
param names object = {}

// CycleCloud
@description('Address of CycleCloud, such as https://10.0.0.4.')
param cyclecloudUrl string
@description('Names of the clusters to scale, as CycleCloud shows them.')
param clusterNames array
@description('More keys for every entry of AUTOSCALER_CLUSTERS, such as { callLimit: 90 } (docs/configuration.md).')
param clusterOptions object = {}
@description('How the app signs in to CycleCloud: with a password from Key Vault, or with its own identity (Entra ID, CycleCloud 8.7.1 or newer).')
@allowed(['password', 'identity'])
param cyclecloudAuthentication string = 'password'
@description('CycleCloud user that the app signs in as. Only with cyclecloudAuthentication password.')
param cyclecloudUsername string = 'autoscaler'
@description('Password of that user. It goes into Key Vault and nowhere else. Empty: the vault keeps the password that it has.')
@secure()
param cyclecloudPassword string = ''
@description('Address of an existing secret that holds the password, without its version. Empty: the secret that this deployment makes. The vault must be the one of existingVaultId.')
param cyclecloudPasswordSecretUri string = ''
@description('Day on which the password in the vault ends, such as 2027-06-30. Key Vault shows it: deploy the next password, with its day, before it. Empty: none.')
param cyclecloudPasswordExpiry string = ''
@description('Token scope for cyclecloudAuthentication identity: api://CLIENT-ID/.default, where CLIENT-ID is that of the app registration which CycleCloud uses.')
param cyclecloudTokenScope string = ''
@description('Certificate of CycleCloud or of its CA as PEM text, if no public CA signed it. Not a secret.')
param cyclecloudCertificate string = ''

// the app
@description('Major version of Node.')
@allowed(['22', '24'])
param nodeVersion string = '24'
@description('Memory of an instance. The documented bounds hold with 2048; with 512 a cluster may hold a quarter of the demand, and an instance has a quarter of a core.')
@allowed([512, 2048, 4096])
param instanceMemoryMB int = 2048
@description('No function group gets more instances than this: it bounds what calls without a key can cost. Not every region takes less than 40.')
@minValue(1)
@maxValue(1000)
param maximumInstanceCount int = 40
@description('Instances of the function demand that are always there. 0: a message may wait for up to two minutes while the app sleeps. Each costs money all day.')
@minValue(0)
@maxValue(10)
param alwaysReadyDemandInstances int = 0
@description('Spreads the app and its storage over the zones of the region. Choose it at the first deployment: storage is not moved later. Azure may then keep two instances of each function group ready, which cost money all day.')
param zoneRedundant bool = false
@description('Mode of a new cluster: it is written into its configuration before its first plan. A later value switches no cluster that has a mode. observe: the app plans and says what it would do, and changes nothing.')
@allowed(['observe', 'act'])
param defaultMode string = 'observe'
@description('More app settings. Secrets belong into Key Vault: give a reference to them here.')
param moreSettings object = {}
@description('A storage account of its own for the queues demand and demand-poison. Senders then have no role on the account that holds the state.')
param separateDemandStorage bool = false
@description('A storage account of its own for the package. Who may write blobs next to the state cannot replace the code then.')
param separatePackageStorage bool = false
@description('Object ids of identities that may send demand by the queue. They may add messages and nothing else.')
param senderPrincipalIds array = []
@description('Kind of the identities in senderPrincipalIds.')
@allowed(['ServicePrincipal', 'User', 'Group'])
param senderPrincipalType string = 'ServicePrincipal'
@description('A lock keeps storage and vault from being deleted.')
param deleteLock bool = false

// network
@description('none: storage and vault have public addresses, which only identities can use. new: a virtual network, with private endpoints. existing: the same in subnets of yours.')
@allowed(['none', 'new', 'existing'])
param network string = 'none'
@description('Addresses of the new network, at least 128 of them: the app gets the first quarter, the endpoints the second.')
param networkAddressPrefix string = '10.90.0.0/24'
@description('Id of your subnet for the app. It must be empty, be delegated to Microsoft.App/environments and have no _ in its name.')
param appSubnetId string = ''
@description('Id of your subnet for the private endpoints.')
param endpointSubnetId string = ''
@description('Ids of your private DNS zones, linked to the network of the app. Keys: blob, queue, table, vault, sites. A zone that is left out is made here.')
param privateDnsZoneIds object = {}
@description('false: this deployment touches no DNS zone, as a policy of yours registers private endpoints.')
param managePrivateDns bool = true
@description('Addresses that may call the app, such as 203.0.113.7 or 203.0.113.0/24: those of schedulers, of nodes and of people. Empty: every address may, and needs a key or a stop URL.')
param allowedAddresses array = []
@description('Addresses that may reach the SCM site of the app, which takes the package. Empty: those of allowedAddresses.')
param deployAddresses array = []
@description('A private endpoint for the app and its SCM site. Only with a network. They have no public address then, except for what allowedAddresses and deployAddresses name.')
param appPrivateEndpoint bool = false

// vault, logs, alerts
@description('Id of an existing key vault with role-based access. Empty: one is made.')
param existingVaultId string = ''
@description('A deleted vault cannot be purged before its seven days are over. Azure does not let you take this back.')
param vaultPurgeProtection bool = true
@description('Id of an existing Log Analytics workspace. Empty: one is made.')
param existingWorkspaceId string = ''
@description('Gigabytes of logs a day. What comes after that is lost until the next day. For a new workspace.')
@minValue(1)
param logDailyCapGb int = 1
@description('Days that logs are kept. For a new workspace.')
@minValue(30)
@maxValue(730)
param logRetentionDays int = 30
@description('Who used what, in the workspace. vault: secrets. changes: secrets, and what is written in queues and tables. all: also what is read there, which is several times as much. For a vault that is made here.')
@allowed(['none', 'vault', 'changes', 'all'])
param auditLogs string = 'changes'
@description('Alerts go to this mail address. With neither this nor an action group they show in the portal only.')
param alertEmail string = ''
@description('Id of an existing action group, which alerts notify too: by text message, webhook, or what it has.')
param actionGroupId string = ''
@description('Where your people read the pages of docs/, such as https://git.example.com/autoscaler/docs. Alerts name emergency.md there. Empty: they name the file in the repository.')
param docsUrl string = ''
@description('Which alerts are on. Keys: heartbeat, serverErrors, storageThrottling, events. All are on unless one says false.')
param alerts object = {}
@description('Metric that counts executions. Flex Consumption has OnDemandFunctionExecutionCount, or AlwaysReadyFunctionExecutionCount with instances that are always ready.')
param heartbeatMetric string = 'OnDemandFunctionExecutionCount'
@description('Demand that stays unmet for this long raises an alert.')
@allowed([30, 45, 60, 90])
param unmetMinutes int = 60

// resources
var token = toLower(uniqueString(resourceGroup().id, environmentName))
var base = '${environmentName}-${token}'
var allTags = union(tags, { 'azd-env-name': environmentName })
var isPrivate = network != 'none'
var storageName = names.?storage ?? 'st${token}'
var demandStorageName = names.?demandStorage ?? 'stdemand${token}'
var packageStorageName = names.?packageStorage ?? 'stpackage${token}'
var appName = names.?app ?? 'func-${base}'
var vaultName = empty(existingVaultId) ? (names.?vault ?? 'kv-${token}') : last(split(existingVaultId, '/'))
var vaultSubscription = empty(existingVaultId) ? subscription().subscriptionId : split(existingVaultId, '/')[2]
var vaultGroup = empty(existingVaultId) ? resourceGroup().name : split(existingVaultId, '/')[4]
var hasSitesEndpoint = isPrivate && appPrivateEndpoint
var storageNames = concat([storageName], separateDemandStorage ? [demandStorageName] : [], separatePackageStorage ? [packageStorageName] : [])
var writes = ['StorageWrite', 'StorageDelete']
var storageLogs = auditLogs == 'all' ? concat(['StorageRead'], writes) : (auditLogs == 'changes' ? writes : [])
var vaultLogs = auditLogs == 'none' ? [] : ['AuditEvent']
// What has a private endpoint. The app itself comes later: its endpoint needs it.
var storageId = resourceId('Microsoft.Storage/storageAccounts', storageName)
var stateServices = [
  { name: '${storageName}-blob', id: storageId, kind: 'blob' }
  { name: '${storageName}-queue', id: storageId, kind: 'queue' }
  { name: '${storageName}-table', id: storageId, kind: 'table' }
]
var packageServices = separatePackageStorage ? [
  { name: '${packageStorageName}-blob', id: resourceId('Microsoft.Storage/storageAccounts', packageStorageName), kind: 'blob' }
] : []
var demandServices = separateDemandStorage ? [
  { name: '${demandStorageName}-queue', id: resourceId('Microsoft.Storage/storageAccounts', demandStorageName), kind: 'queue' }
] : []
var vaultServices = empty(existingVaultId) ? [
  { name: '${vaultName}-vault', id: resourceId('Microsoft.KeyVault/vaults', vaultName), kind: 'vault' }
] : []

module identity 'modules/identity.bicep' = {
  name: 'identity'
  params: {
    name: names.?identity ?? 'id-${base}'
    location: location
    tags: allTags
  }
}

module monitoring 'modules/monitoring.bicep' = {
  name: 'monitoring'
  params: {
    workspaceName: names.?workspace ?? 'log-${base}'
    insightsName: names.?insights ?? 'appi-${base}'
    location: location
    tags: allTags
    existingWorkspaceId: existingWorkspaceId
    dailyCapGb: logDailyCapGb
    retentionDays: logRetentionDays
  }
}

module storage 'modules/storage.bicep' = {
  name: 'storage'
  params: {
    name: storageName
    location: location
    tags: allTags
    isPrivate: isPrivate
    zoneRedundant: zoneRedundant
    deleteLock: deleteLock
    workspaceId: monitoring.outputs.workspaceId
    logCategories: storageLogs
    containers: separatePackageStorage ? [] : ['app-package']
    queues: separateDemandStorage ? ['demand-rejected'] : ['demand', 'demand-poison', 'demand-rejected']
    tables: ['autoscaler']
  }
}

module demandStorage 'modules/storage.bicep' = if (separateDemandStorage) {
  name: 'demand-storage'
  params: {
    name: demandStorageName
    location: location
    tags: allTags
    isPrivate: isPrivate
    zoneRedundant: zoneRedundant
    deleteLock: deleteLock
    workspaceId: monitoring.outputs.workspaceId
    logCategories: storageLogs
    containers: []
    queues: ['demand', 'demand-poison']
    tables: []
  }
}

module packageStorage 'modules/storage.bicep' = if (separatePackageStorage) {
  name: 'package-storage'
  params: {
    name: packageStorageName
    location: location
    tags: allTags
    isPrivate: isPrivate
    zoneRedundant: zoneRedundant
    deleteLock: deleteLock
    workspaceId: monitoring.outputs.workspaceId
    logCategories: storageLogs
    containers: ['app-package']
    queues: []
    tables: []
  }
}

module vault 'modules/vault.bicep' = if (empty(existingVaultId)) {
  name: 'vault'
  params: {
    name: vaultName
    location: location
    tags: allTags
    isPrivate: isPrivate
    purgeProtection: vaultPurgeProtection
    deleteLock: deleteLock
    workspaceId: monitoring.outputs.workspaceId
    logCategories: vaultLogs
  }
}

module secrets 'modules/secrets.bicep' = {
  name: 'secrets'
  scope: resourceGroup(vaultSubscription, vaultGroup)
  params: {
    vaultName: vaultName
    appPrincipalId: identity.outputs.principalId
    namePrefix: empty(existingVaultId) ? '' : '${environmentName}-'
    cyclecloudPassword: cyclecloudPassword
    passwordExpiry: cyclecloudPasswordExpiry
    existingPasswordUri: cyclecloudPasswordSecretUri
  }
  dependsOn: [vault]
}

module networking 'modules/network.bicep' = if (isPrivate) {
  name: 'network'
  params: {
    name: names.?network ?? 'vnet-${base}'
    location: location
    tags: allTags
    isNew: network == 'new'
    addressPrefix: networkAddressPrefix
    appSubnetId: appSubnetId
    endpointSubnetId: endpointSubnetId
  }
}

module endpoints 'modules/endpoints.bicep' = if (isPrivate) {
  name: 'endpoints'
  params: {
    location: location
    tags: allTags
    subnetId: networking.?outputs.endpointSubnetId ?? ''
    appNetworkId: networking.?outputs.appNetworkId ?? ''
    zoneIds: privateDnsZoneIds
    manageDns: managePrivateDns
    services: concat(stateServices, packageServices, demandServices, vaultServices)
  }
  dependsOn: [storage, packageStorage, demandStorage, vault]
}

module roles 'modules/roles.bicep' = {
  name: 'roles'
  params: {
    storageName: storage.outputs.name
    demandStorageName: demandStorage.?outputs.name ?? ''
    packageStorageName: packageStorage.?outputs.name ?? ''
    insightsName: monitoring.outputs.insightsName
    appPrincipalId: identity.outputs.principalId
    senderQueueAccount: separateDemandStorage ? demandStorageName : storageName
    senderPrincipalIds: senderPrincipalIds
    senderPrincipalType: senderPrincipalType
  }
}

module app 'modules/app.bicep' = {
  name: 'app'
  params: {
    name: appName
    planName: names.?plan ?? 'plan-${base}'
    location: location
    tags: allTags
    nodeVersion: nodeVersion
    instanceMemoryMB: instanceMemoryMB
    maximumInstanceCount: maximumInstanceCount
    alwaysReadyDemandInstances: alwaysReadyDemandInstances
    zoneRedundant: zoneRedundant
    subnetId: networking.?outputs.appSubnetId ?? ''
    identityId: identity.outputs.id
    identityClientId: identity.outputs.clientId
    storageName: storage.outputs.name
    demandStorageName: demandStorage.?outputs.name ?? ''
    packageStorageName: packageStorage.?outputs.name ?? ''
    packageContainer: 'app-package'
    allowedAddresses: allowedAddresses
    deployAddresses: deployAddresses
    hasPrivateEndpoint: hasSitesEndpoint
    insightsConnectionString: monitoring.outputs.connectionString
    cyclecloudUrl: cyclecloudUrl
    clusterNames: clusterNames
    clusterOptions: clusterOptions
    authentication: cyclecloudAuthentication
    username: cyclecloudUsername
    tokenScope: cyclecloudTokenScope
    certificate: cyclecloudCertificate
    passwordSecretUri: secrets.outputs.passwordUri
    autostopKeysUri: secrets.outputs.autostopKeysUri
    defaultMode: defaultMode
    moreSettings: moreSettings
  }
  dependsOn: [roles, endpoints]
}

module sitesEndpoint 'modules/endpoints.bicep' = if (hasSitesEndpoint) {
  name: 'sites-endpoint'
  params: {
    location: location
    tags: allTags
    subnetId: networking.?outputs.endpointSubnetId ?? ''
    appNetworkId: networking.?outputs.appNetworkId ?? ''
    zoneIds: privateDnsZoneIds
    manageDns: managePrivateDns
    services: [
      { name: '${appName}-sites', id: resourceId('Microsoft.Web/sites', appName), kind: 'sites' }
    ]
  }
  dependsOn: [app]
}

module alerting 'modules/alerts.bicep' = {
  name: 'alerts'
  params: {
    base: base
    actionGroupName: names.?actionGroup ?? 'ag-${base}'
    location: location
    tags: allTags
    email: alertEmail
    existingGroupId: actionGroupId
    docsUrl: docsUrl
    switches: alerts
    siteId: app.outputs.id
    storageNames: storageNames
    insightsId: monitoring.outputs.insightsId
    workspaceId: monitoring.outputs.workspaceId
    heartbeatMetric: heartbeatMetric
    unmetMinutes: unmetMinutes
  }
}

// what the command line needs
output AZURE_RESOURCE_GROUP string = resourceGroup().name
output AUTOSCALER_APP_NAME string = app.outputs.name
output AUTOSCALER_RESOURCE_ID string = app.outputs.id
output AUTOSCALER_URL string = app.outputs.url
output AUTOSCALER_QUEUE string = app.outputs.demandQueueUri
output AUTOSCALER_IDENTITY_PRINCIPAL_ID string = identity.outputs.principalId
output AUTOSCALER_VAULT string = vaultName
