//! Scripts for browsers of any age: minified, and refused where their syntax is newer than ES5 (ECMA-262, 5th edition),
//! as such a browser would read nothing of them.

use anyhow::{Result, bail};
use oxc::allocator::Allocator;
use oxc::ast::AstKind;
use oxc::ast::ast::{RegExpFlags, VariableDeclarationKind};
use oxc::parser::Parser;
use oxc::semantic::{AstNode, AstNodes, SemanticBuilder};
use oxc::span::{GetSpan, SourceType};
use oxc::syntax::operator::BinaryOperator;
use serde_json::json;

/// Minifies a classic script, as [`super::script::minify_js`] does.
///
/// # Errors
/// When it is no JavaScript, newer than ES5, or declares a name twice; the message shows where.
pub fn minify(source: &str) -> Result<String> {
    check(source)?;
    check_names(source)?;
    let text = with_quotes(&super::script::minify_for("es2015", source)?)?;
    check(&text)?;
    Ok(text)
}

/// Strings in quotes: the code generator writes them between backticks, which are shorter to escape and newer than ES5.
fn with_quotes(text: &str) -> Result<String> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::script()).parse();
    let semantic = SemanticBuilder::new().with_build_nodes(true).build(&parsed.program).semantic;
    let mut strings: Vec<_> = semantic
        .nodes()
        .iter()
        .filter_map(|node| match node.kind() {
            AstKind::TemplateLiteral(template) if template.expressions.is_empty() => Some(template),
            _ => None,
        })
        .collect();
    strings.sort_by_key(|template| template.span.start);
    let mut out = String::with_capacity(text.len() + 100);
    let mut copied = 0;
    for template in strings {
        let Some(value) = template.quasis.first().and_then(|part| part.value.cooked) else { continue };
        out.push_str(&text[copied..template.span.start as usize]);
        out.push_str(&json!(value.as_str()).to_string());
        copied = template.span.end as usize;
    }
    out.push_str(&text[copied..]);
    Ok(out)
}

/// Checks that a classic script has nothing in it that ES5 does not know.
///
/// # Errors
/// The first that is newer.
fn check(source: &str) -> Result<()> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::script()).parse();
    if let Some(error) = parsed.diagnostics.first() {
        bail!("{error}");
    }
    let semantic = SemanticBuilder::new().with_build_nodes(true).build(&parsed.program).semantic;
    let nodes = semantic.nodes();
    if let Some(newer) = nodes.iter().find(|node| !is_known(node, nodes)) {
        let span = newer.kind().span();
        let text = &source[span.start as usize..span.end as usize];
        bail!("newer than ES5: {}", text.chars().take(60).collect::<String>());
    }
    Ok(())
}

/// Checks that no name is given to two things in one function: ES5 itself lets that pass, where `const` does not.
///
/// # Errors
/// The first that is.
fn check_names(source: &str) -> Result<()> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::script()).parse();
    let semantic = SemanticBuilder::new().build(&parsed.program).semantic;
    let names = semantic.scoping();
    match names.symbol_ids().find(|id| !names.symbol_redeclarations(*id).is_empty()) {
        Some(twice) => bail!("declared twice: {}", names.symbol_name(twice)),
        None => Ok(()),
    }
}

/// Whether ES5 knows a node of the syntax tree; those inside of it are asked for themselves.
fn is_known(node: &AstNode<'_>, nodes: &AstNodes<'_>) -> bool {
    match node.kind() {
        AstKind::Program(_)
        | AstKind::IdentifierName(_)
        | AstKind::IdentifierReference(_)
        | AstKind::BindingIdentifier(_)
        | AstKind::LabelIdentifier(_)
        | AstKind::ThisExpression(_)
        | AstKind::ArrayExpression(_)
        | AstKind::Elision(_)
        | AstKind::ObjectExpression(_)
        | AstKind::ComputedMemberExpression(_)
        | AstKind::StaticMemberExpression(_)
        | AstKind::CallExpression(_)
        | AstKind::NewExpression(_)
        | AstKind::UpdateExpression(_)
        | AstKind::UnaryExpression(_)
        | AstKind::ConditionalExpression(_)
        | AstKind::SequenceExpression(_)
        | AstKind::ParenthesizedExpression(_)
        | AstKind::Directive(_)
        | AstKind::BlockStatement(_)
        | AstKind::VariableDeclarator(_)
        | AstKind::EmptyStatement(_)
        | AstKind::ExpressionStatement(_)
        | AstKind::IfStatement(_)
        | AstKind::DoWhileStatement(_)
        | AstKind::WhileStatement(_)
        | AstKind::ForStatement(_)
        | AstKind::ForInStatement(_)
        | AstKind::ContinueStatement(_)
        | AstKind::BreakStatement(_)
        | AstKind::ReturnStatement(_)
        | AstKind::SwitchStatement(_)
        | AstKind::SwitchCase(_)
        | AstKind::LabeledStatement(_)
        | AstKind::ThrowStatement(_)
        | AstKind::TryStatement(_)
        | AstKind::CatchParameter(_)
        | AstKind::FormalParameters(_)
        | AstKind::FunctionBody(_)
        | AstKind::BooleanLiteral(_)
        | AstKind::NullLiteral(_) => true,
        AstKind::VariableDeclaration(declaration) => declaration.kind == VariableDeclarationKind::Var,
        AstKind::ObjectProperty(property) => !property.shorthand && !property.method && !property.computed,
        AstKind::BinaryExpression(binary) => binary.operator != BinaryOperator::Exponential,
        AstKind::LogicalExpression(logical) => !logical.operator.is_coalesce(),
        AstKind::AssignmentExpression(assignment) => {
            let operator = assignment.operator;
            !operator.is_logical() && operator.to_binary_operator() != Some(BinaryOperator::Exponential)
        }
        AstKind::CatchClause(clause) => clause.param.is_some(),
        AstKind::FormalParameter(parameter) => parameter.initializer.is_none(),
        // One that is declared inside of a block has no meaning that all browsers share.
        AstKind::Function(function) => {
            let alone = matches!(nodes.parent_kind(node.id()), AstKind::Program(_) | AstKind::FunctionBody(_));
            !function.generator && !function.r#async && (function.is_expression() || alone)
        }
        AstKind::NumericLiteral(number) => !is_new_number(number.raw.as_deref().unwrap_or_default()),
        AstKind::StringLiteral(string) => !string.raw.as_deref().unwrap_or_default().contains("\\u{"),
        AstKind::RegExpLiteral(literal) => {
            let pattern = literal.regex.pattern.text.as_str();
            let newer = RegExpFlags::all() - (RegExpFlags::G | RegExpFlags::I | RegExpFlags::M);
            !literal.regex.flags.intersects(newer) && !["(?<", "\\p{", "\\u{"].iter().any(|it| pattern.contains(it))
        }
        _ => false,
    }
}

/// `0b1`, `0o7` and `1_000`.
fn is_new_number(raw: &str) -> bool {
    let raw = raw.to_ascii_lowercase();
    raw.contains('_') || raw.starts_with("0b") || raw.starts_with("0o")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_an_older_browser_cannot_read_is_not_packed() {
        for newer in [
            "() => 1",
            "let a = 1;",
            "const a = 1;",
            "`a`;",
            "f`a`;",
            "f(...a);",
            "var b = [...a];",
            "var b = { a };",
            "var b = { a() {} };",
            "var b = { [a]: 1 };",
            "var b = { ...a };",
            "var { b } = a;",
            "var [b] = a;",
            "({ b } = a);",
            "[b] = a;",
            "function f(a = 1) {}",
            "function f(...a) {}",
            "function f({ a }) {}",
            "function* f() {}",
            "async function f() {}",
            "class A {}",
            "for (var a of b) {}",
            "try {} catch {}",
            "a?.b;",
            "a?.();",
            "a ?? b;",
            "a ??= b;",
            "a ||= b;",
            "a ** b;",
            "a **= b;",
            "0b1;",
            "1_000;",
            "1n;",
            "'\\u{1f600}';",
            "/a/u;",
            "/a/y;",
            "/a/d;",
            "/(?<=a)/;",
            "import('a');",
            "if (a) { function f() {} }",
        ] {
            let error = minify(newer).unwrap_err().to_string();
            assert!(error.starts_with("newer than ES5: "), "{newer}: {error}");
        }
    }

    #[test]
    fn one_name_is_not_given_to_two_things() {
        for source in ["var a = 1; var a = 2;", "function f(a) { var a; }", "var f = 1; function f() {}"] {
            assert!(minify(source).unwrap_err().to_string().starts_with("declared twice: "), "{source}");
        }
        assert!(minify("var a; (function () { var a; })();").is_ok());
    }

    #[test]
    fn what_they_read_stays_what_it_says() {
        let packed = minify(
            "(function (say) { 'use strict'; var it = 'a\"b'; for (var at = 0; at < 3; at++) \
             try { say(it + \"'\", /a[^/]/gi, at); } catch (none) { say(function () { return { it: it, \"a-b\": 1 }; }); } })(say);",
        )
        .unwrap();
        assert!(!packed.contains('`') && !packed.contains("=>"), "{packed}");
        for kept in ["\"use strict\"", "/a[^/]/gi", "\"a-b\":1"] {
            assert!(packed.contains(kept), "{kept}: {packed}");
        }
    }
}
