package host

import "github.com/turncore/turncore/abi"

// Codes of the errors that Turncore raises; docs/errors.md explains each code and its remedy.
const (
	// Configuration and input.

	CodeInvalidTurnRunnerConfig    Code = abi.CodeInvalidTurnRunnerConfig
	CodeInvalidTurnContext         Code = abi.CodeInvalidTurnContext
	CodeInvalidLLMDispatchInput    Code = abi.CodeInvalidLLMDispatchInput
	CodeInvalidLLMExecutionContext Code = abi.CodeInvalidLLMExecutionContext
	CodeInvalidOptions             Code = abi.CodeInvalidOptions
	CodeValidationException        Code = abi.CodeValidationException
	CodeInvalidValue               Code = abi.CodeInvalidValue

	// Turns and pipelines.

	CodeInputPipelineError     Code = abi.CodeInputPipelineError
	CodeOutputPipelineError    Code = abi.CodeOutputPipelineError
	CodeDispatchPipelineError  Code = abi.CodeDispatchPipelineError
	CodePipelineShortCircuited Code = abi.CodePipelineShortCircuited
	CodeMaxIterations          Code = abi.CodeMaxIterations
	CodeMaxRepeats             Code = abi.CodeMaxRepeats
	CodeDeadline               Code = abi.CodeDeadline
	CodeTokenBudget            Code = abi.CodeTokenBudget
	CodeSpendLimit             Code = abi.CodeSpendLimit
	CodeSpendUnknownPrice      Code = abi.CodeSpendUnknownPrice
	CodeListenerError          Code = abi.CodeListenerError
	CodeCallAfterEnd           Code = abi.CodeCallAfterEnd

	// Dispatch and executor.

	CodeLLMExecutionExecutorError    Code = abi.CodeLLMExecutionExecutorError
	CodeLLMExecutionAlreadySignalled Code = abi.CodeLLMExecutionAlreadySignalled
	CodeLLMExecutionGateNotSupported Code = abi.CodeLLMExecutionGateNotSupported
	CodeStorageCommitError           Code = abi.CodeStorageCommitError

	// Tools.

	CodeInvalidToolArgs             Code = abi.CodeInvalidToolArgs
	CodeToolDownstreamError         Code = abi.CodeToolDownstreamError
	CodeToolAlreadyRegistered       Code = abi.CodeToolAlreadyRegistered
	CodeInvalidInitialToolValue     Code = abi.CodeInvalidInitialToolValue
	CodeInvalidInitialToolCallValue Code = abi.CodeInvalidInitialToolCallValue

	// Records and values.

	CodeInvalidInitialMessageValue     Code = abi.CodeInvalidInitialMessageValue
	CodeInvalidInitialMemoryValue      Code = abi.CodeInvalidInitialMemoryValue
	CodeInvalidInitialThoughtValue     Code = abi.CodeInvalidInitialThoughtValue
	CodeInvalidInitialRetrievableValue Code = abi.CodeInvalidInitialRetrievableValue
	CodeInvalidInitialIdentityValue    Code = abi.CodeInvalidInitialIdentityValue
	CodeInvalidInitialRegistryValue    Code = abi.CodeInvalidInitialRegistryValue
	CodeInvalidInitialMediaValue       Code = abi.CodeInvalidInitialMediaValue
	CodeArtifactIDCollision            Code = abi.CodeArtifactIDCollision
	CodeArtifactTooLarge               Code = abi.CodeArtifactTooLarge
	CodeNotASpoolReader                Code = abi.CodeNotASpoolReader
	CodeMediaTooLarge                  Code = abi.CodeMediaTooLarge
	CodeNotAMediaReader                Code = abi.CodeNotAMediaReader
	CodeReaderNotDescribable           Code = abi.CodeReaderNotDescribable
	CodeNoReaderResolver               Code = abi.CodeNoReaderResolver
	CodeTokenizableEvaluatorInvalid    Code = abi.CodeTokenizableEvaluatorInvalid
	CodeTokenEstimatorShadowsBuiltin   Code = abi.CodeTokenEstimatorShadowsBuiltin

	// Tools of the catalogue.

	CodeToolCalculation Code = abi.CodeToolCalculation
	CodeToolFetch       Code = abi.CodeToolFetch

	// Gates.

	CodeInvalidInitialTurnGateValue Code = abi.CodeInvalidInitialTurnGateValue
	CodeInvalidTurnGateResolution   Code = abi.CodeInvalidTurnGateResolution
	CodeTurnGateTimeout             Code = abi.CodeTurnGateTimeout
	CodeTurnGateAborted             Code = abi.CodeTurnGateAborted
	CodeTurnGateSettled             Code = abi.CodeTurnGateSettled
	CodeTurnQuotaExceeded           Code = abi.CodeTurnQuotaExceeded

	// Chat executor.

	CodeChatInvalidOptions      Code = abi.CodeChatInvalidOptions
	CodeChatHTTPError           Code = abi.CodeChatHTTPError
	CodeChatProviderError       Code = abi.CodeChatProviderError
	CodeChatStreamError         Code = abi.CodeChatStreamError
	CodeChatStreamStalled       Code = abi.CodeChatStreamStalled
	CodeChatTotalTimeout        Code = abi.CodeChatTotalTimeout
	CodeChatRequestTimeout      Code = abi.CodeChatRequestTimeout
	CodeChatEmptyResponse       Code = abi.CodeChatEmptyResponse
	CodeChatRefused             Code = abi.CodeChatRefused
	CodeChatInvalidToolCallArgs Code = abi.CodeChatInvalidToolCallArgs
	CodeChatUnknownTool         Code = abi.CodeChatUnknownTool
	CodeChatToolTimeout         Code = abi.CodeChatToolTimeout
	CodeChatToolUseFailed       Code = abi.CodeChatToolUseFailed
	CodeChatUnsupportedMedia    Code = abi.CodeChatUnsupportedMedia
	CodeChatInvalidOutput       Code = abi.CodeChatInvalidOutput
	CodeCredentialUnknown       Code = abi.CodeCredentialUnknown
	CodeHTTPTransport           Code = abi.CodeHTTPTransport
	CodeHTTPNotAllowed          Code = abi.CodeHTTPNotAllowed
	CodeHTTPRedirect            Code = abi.CodeHTTPRedirect

	// Models of the host.

	CodeModelUnknown     Code = abi.CodeModelUnknown
	CodeModelFailed      Code = abi.CodeModelFailed
	CodeModelInvalidPart Code = abi.CodeModelInvalidPart

	// Modules and instances.

	CodeInvalidModule  Code = abi.CodeInvalidModule
	CodeABIVersion     Code = abi.CodeABIVersion
	CodeInstanceFailed Code = abi.CodeInstanceFailed
	CodeOverloaded     Code = abi.CodeOverloaded
	CodeClosed         Code = abi.CodeClosed
	CodeReplayDiverged Code = abi.CodeReplayDiverged
	CodeInvalidJournal Code = abi.CodeInvalidJournal

	// Frames.

	CodeABIMalformedFrame Code = abi.CodeABIMalformedFrame
	CodeABIUnknownFrame   Code = abi.CodeABIUnknownFrame
	CodeABILimitExceeded  Code = abi.CodeABILimitExceeded
	CodeABIUnknownTarget  Code = abi.CodeABIUnknownTarget
	CodeABIHelloFirst     Code = abi.CodeABIHelloFirst
)
